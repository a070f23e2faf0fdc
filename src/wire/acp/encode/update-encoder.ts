import type { Codec, Emit } from "../../../domain/codec.ts";
import { applyEventRule } from "../../../domain/event-rules.ts";
import type { Envelope } from "../../../domain/events/envelope.ts";
import { routeQuestions } from "./permissions/approval-updates.ts";
import { sendOpenBlocks } from "./text-updates.ts";
import { emitDaemonState, UPDATE_RULES } from "./update-rules.ts";
import {
  createUpdateState,
  type AcpOutput,
  type UpdateOptions,
  type UpdateState,
} from "./update-state.ts";

/**
 * Creates the codec from a session's events, beginning with the first event, to the outputs for a client.
 *
 * Replayed and live events are a single stream. The state at the boundary (open blocks, tool calls and approvals) is
 * the state of the events themselves, so no update is duplicated or lost.
 */
export function createUpdateEncoder(
  options: UpdateOptions,
): Codec<UpdateState, Envelope, AcpOutput> {
  return {
    initial: () => createUpdateState(options),
    step(state, envelope, emit) {
      if (envelope.sessionId !== options.sessionId) return;
      // The event `upTo` may be missing: deltas of finished blocks are deleted from the log.
      if (envelope.seq > options.upTo) catchUp(state, emit);
      if (envelope.visibility === "public") applyEventRule(UPDATE_RULES, state, envelope, emit);
      if (envelope.seq >= options.upTo) catchUp(state, emit);
    },
    // The end of the stream emits no output: the session continues without this client.
    finish() {},
  };
}

/**
 * Switches from replay to live. Open permission requests come last, after the client has received the whole session.
 */
function catchUp(state: UpdateState, emit: Emit<AcpOutput>): void {
  if (state.isLive) return;
  sendOpenBlocks(state, emit);
  state.isLive = true;
  emit({ type: "caught-up" });
  routeQuestions(state, emit);
  emitDaemonState(state, emit);
}
