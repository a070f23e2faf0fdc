import type { Codec } from "../../domain/codec.ts";
import type { ProviderEvent } from "../../domain/provider/provider-event.ts";

type TurnCodec<State> = Codec<State, Uint8Array, ProviderEvent>;

/** What goes along with the calls of a session until its agent answers one. */
export interface PendingHistory<Item> {
  /** For the next call. There are none once the agent has heard them. */
  readonly items: readonly Item[];
  /** Notices in the answer to a call that the agent has heard them. */
  trackDelivery<State>(codec: TurnCodec<State>): TurnCodec<State>;
}

/**
 * A call that was lost, or ended before a word of its answer, may have been heard all the same. Then the agent hears twice
 * what was said before; the other way it would know nothing of it.
 */
export function createPendingHistory<Item>(items: readonly Item[]): PendingHistory<Item> {
  let pending = items;
  return {
    get items() {
      return pending;
    },
    trackDelivery(codec) {
      if (pending.length === 0) return codec;
      return {
        ...codec,
        step(state, chunk, emit) {
          if (pending.length === 0) return codec.step(state, chunk, emit);
          codec.step(state, chunk, (event) => {
            if (isAgentOutput(event)) pending = [];
            emit(event);
          });
        },
        finish(state, emit) {
          codec.finish(state, (event) => {
            if (isAgentOutput(event)) pending = [];
            emit(event);
          });
        },
      };
    },
  };
}

/** A refusal inside the stream is none. */
function isAgentOutput(event: ProviderEvent): boolean {
  if (event.type === "end") return event.outcome !== "failed";
  return event.type !== "diagnostic" && event.type !== "unknown";
}
