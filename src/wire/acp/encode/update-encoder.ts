import type { Codec, Emit } from "../../../domain/codec.ts";
import { applyEventRule } from "../../../domain/event-rules.ts";
import type { Envelope } from "../../../domain/events/envelope.ts";
import { routeQuestions } from "./permissions/approval-updates.ts";
import { sendOpenBlocks } from "./text-updates.ts";
import { UPDATE_RULES } from "./update-rules.ts";
import {
  createUpdateState,
  type AcpOutput,
  type UpdateOptions,
  type UpdateState,
} from "./update-state.ts";

/**
 * A session's events, from the first one, as one client is told of them.
 *
 * What was there before and what comes are one stream: the state at the seam (open blocks, open calls, open questions)
 * is that of the events themselves, so nothing is told twice and nothing is left out.
 */
export function createUpdateEncoder(
  options: UpdateOptions,
): Codec<UpdateState, Envelope, AcpOutput> {
  return {
    initial: () => createUpdateState(options),
    step(state, envelope, emit) {
      if (envelope.sessionId !== options.sessionId) return;
      // The last of the events from before may be gone: the deltas of a block that has ended since need not be kept.
      if (envelope.seq > options.upTo) catchUp(state, emit);
      if (envelope.visibility === "public") applyEventRule(UPDATE_RULES, state, envelope, emit);
      if (envelope.seq >= options.upTo) catchUp(state, emit);
    },
    // A stream that stops says nothing: the session goes on without this client.
    finish() {},
  };
}

/** Questions that are still open are asked last, when the client knows the session. */
function catchUp(state: UpdateState, emit: Emit<AcpOutput>): void {
  if (state.isLive) return;
  sendOpenBlocks(state, emit);
  state.isLive = true;
  emit({ type: "caught-up" });
  routeQuestions(state, emit);
}
