import type { Codec } from "../../domain/codec.ts";
import type { Failure } from "../../domain/errors.ts";
import type { ProviderEvent } from "../../domain/provider-event.ts";

/**
 * Ends a turn whose connection broke. One that had said how it ends stays what it is, so that its answer is not thrown
 * away, nor the calls that wait for us. Of any other, the calls that it wanted may not be all that it meant.
 */
export function brokenTurn(events: readonly ProviderEvent[], failure: Failure): ProviderEvent[] {
  return events.flatMap((event): ProviderEvent[] => {
    if (event.type !== "end") return [event];
    if (event.outcome === "failed") return [{ ...event, openCalls: [], failure }];
    const diagnostic = { code: "cut_after_end", message: failure.message } as const;
    return [{ type: "diagnostic", diagnostic }, event];
  });
}

/** Says of a failure that the stream itself brought what the provider knows about it. */
export function withFailure<State>(
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
