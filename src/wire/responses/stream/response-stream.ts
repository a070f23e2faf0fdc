import type { AgentEventType } from "../../../domain/agent-event.ts";
import type { Codec, Emit } from "../../../domain/codec.ts";
import type { Envelope } from "../../../domain/envelope.ts";
import type { RecordedRequest } from "../recorded-request.ts";
import type { ResponseObject } from "../response-object.ts";
import { endAs, responseNow } from "./lifecycle.ts";
import type { StreamEvent } from "./stream-event.ts";
import { STREAM_RULES, type EventOf } from "./stream-rules.ts";
import { initialStream, type StreamState } from "./stream-state.ts";

/**
 * One response as its stream: a session's events from the one that begins it. Those of other turns, which may run
 * before its own, are passed over. The same events give the same stream, whenever they are read.
 */
export function responseStream(
  recorded: RecordedRequest,
): Codec<StreamState, Envelope, StreamEvent> {
  return {
    initial: () => initialStream(recorded),
    step(state, envelope, emit) {
      if (state.response !== null || !isOwn(state, envelope)) return;
      state.now = envelope.at;
      encodeAs(envelope.event.type, envelope.event, { state, envelope, emit });
    },
    finish(state, emit) {
      if (state.begun !== null && state.response === null) endAs(state, null, emit);
    },
    isOver: ({ response }) => response !== null,
  };
}

/** The response that these events come to: the one that its stream ends with, or as far as it has come. */
export function responseFrom(
  envelopes: Iterable<Envelope>,
  recorded: RecordedRequest,
): ResponseObject | null {
  const codec = responseStream(recorded);
  const state = codec.initial();
  for (const envelope of envelopes) {
    codec.step(state, envelope, ignore);
    if (codec.isOver?.(state) === true) break;
  }
  return responseNow(state);
}

function ignore(): void {}

/** Before its turn a response has no events but those that name its prompt. */
function isOwn({ begun, turnId }: StreamState, envelope: Envelope): boolean {
  const { event, turnId: of, visibility } = envelope;
  if (visibility !== "public") return false;
  if (begun === null) return BEGINNINGS.has(event.type);
  if (turnId !== null) return of === turnId;
  return event.type === "turn.started" || event.type === "prompt.withdrawn";
}

const BEGINNINGS: ReadonlySet<AgentEventType> = new Set(["prompt.accepted", "results.given"]);

/** The type parameter ties an event to its rule. */
function encodeAs<Type extends AgentEventType>(
  type: Type,
  event: EventOf<Type>,
  { state, envelope, emit }: EncodeContext,
): void {
  STREAM_RULES[type].encode?.(state, event, emit, envelope);
}

interface EncodeContext {
  readonly state: StreamState;
  readonly envelope: Envelope;
  readonly emit: Emit<StreamEvent>;
}
