import type { Codec } from "../../domain/codec.ts";
import type { ProviderEvent } from "../../domain/provider/provider-event.ts";

type TurnCodec<State> = Codec<State, Uint8Array, ProviderEvent>;

/** The history sent with each invocation of a session until the agent responds for the first time. */
export interface PendingHistory<Item> {
  /** Items for the next invocation. Empty after the agent has received them. */
  readonly items: readonly Item[];
  /** Wraps a codec to detect from the response whether the agent has received the items. */
  trackDelivery<State>(codec: TurnCodec<State>): TurnCodec<State>;
}

/**
 * Creates the pending history of a session. If an invocation is lost before any output, the agent may have received the
 * history, and the history is sent again. A duplicate is better than a missing history.
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

/** True for output of the agent. An error in the stream does not count. */
function isAgentOutput(event: ProviderEvent): boolean {
  if (event.type === "end") return event.outcome !== "failed";
  return event.type !== "diagnostic" && event.type !== "unknown";
}
