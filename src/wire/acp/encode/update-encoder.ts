import type { SessionEventType } from "../../../domain/events/session-event.ts";
import type { Codec, Emit } from "../../../domain/codec.ts";
import type { Envelope } from "../../../domain/events/envelope.ts";
import { routeQuestions } from "./permissions/approval-updates.ts";
import { sendOpenBlocks } from "./text-updates.ts";
import { type EventOf, UPDATE_RULES } from "./update-rules.ts";
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
      if (envelope.visibility === "public") encodeEvent(state, envelope, emit);
      if (envelope.seq >= options.upTo) catchUp(state, emit);
    },
    // A stream that stops says nothing: the session goes on without this client.
    finish() {},
  };
}

function encodeEvent(state: UpdateState, envelope: Envelope, emit: Emit<AcpOutput>): void {
  const { event } = envelope;
  applyUpdateRule(event.type, event, { state, envelope, emit });
}

/** The type parameter ties an event to its rule. */
function applyUpdateRule<Type extends SessionEventType>(
  type: Type,
  event: EventOf<Type>,
  { state, envelope, emit }: EncodeContext,
): void {
  UPDATE_RULES[type].encode?.(state, event, emit, envelope);
}

interface EncodeContext {
  readonly state: UpdateState;
  readonly envelope: Envelope;
  readonly emit: Emit<AcpOutput>;
}

/** Questions that are still open are asked last, when the client knows the session. */
function catchUp(state: UpdateState, emit: Emit<AcpOutput>): void {
  if (state.isLive) return;
  sendOpenBlocks(state, emit);
  state.isLive = true;
  emit({ type: "caught-up" });
  routeQuestions(state, emit);
}
