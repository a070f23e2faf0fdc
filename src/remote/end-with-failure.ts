import type { Codec } from "../domain/codec.ts";
import type { Failure } from "../domain/errors.ts";
import type { ProviderEvent } from "../domain/provider/provider-event.ts";

/** Says of a failure that the stream itself brought what is known about it here. */
export function endWithFailure<State>(
  codec: Codec<State, Uint8Array, ProviderEvent>,
  explain: (failure: Failure) => Failure,
): Codec<State, Uint8Array, ProviderEvent> {
  return {
    ...codec,
    finish(state, emit) {
      codec.finish(state, (event) => {
        if (event.type !== "end" || event.failure === undefined) return emit(event);
        emit({ ...event, failure: explain(event.failure) });
      });
    },
  };
}
