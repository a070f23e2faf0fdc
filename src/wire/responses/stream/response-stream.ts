import type { SessionEventType } from "../../../domain/events/session-event.ts";
import type { Codec } from "../../../domain/codec.ts";
import { applyEventRule } from "../../../domain/event-rules.ts";
import type { Envelope } from "../../../domain/events/envelope.ts";
import type { RecordedRequest } from "../recorded-request.ts";
import type { ResponseObject } from "../response-object.ts";
import { endWithTurn, snapshotResponse } from "./lifecycle.ts";
import type { StreamEvent } from "./response-stream-event.ts";
import { STREAM_RULES } from "./stream-rules.ts";
import { createStreamState, type StreamState } from "./stream-state.ts";

/**
 * Encodes one response as its stream, starting with the event of its prompt. Events of other turns, which may run
 * before, are skipped. The same events always yield the same stream.
 */
export function createResponseStream(
  recorded: RecordedRequest,
): Codec<StreamState, Envelope, StreamEvent> {
  return {
    initial: () => createStreamState(recorded),
    step(state, envelope, emit) {
      if (state.response !== null || !isOwnEvent(state, envelope)) return;
      state.lastEventAt = envelope.at;
      applyEventRule(STREAM_RULES, state, envelope, emit);
    },
    finish(state, emit) {
      if (state.start !== null && state.response === null) endWithTurn(state, null, emit);
    },
    isOver: ({ response }) => response !== null,
  };
}

/** Folds events to the response: its final state, or its current state while it runs. */
export function foldResponse(
  envelopes: Iterable<Envelope>,
  recorded: RecordedRequest,
): ResponseObject | null {
  const codec = createResponseStream(recorded);
  const state = codec.initial();
  for (const envelope of envelopes) {
    codec.step(state, envelope, ignore);
    if (codec.isOver?.(state) === true) break;
  }
  return snapshotResponse(state);
}

function ignore(): void {}

/** Before its turn starts, only events about its prompt belong to a response. */
function isOwnEvent({ start, turnId }: StreamState, envelope: Envelope): boolean {
  const { event, turnId: of, visibility } = envelope;
  if (visibility !== "public") return false;
  if (start === null) return START_EVENTS.has(event.type);
  if (turnId !== null) return of === turnId;
  return event.type === "turn.started" || event.type === "prompt.withdrawn";
}

const START_EVENTS: ReadonlySet<SessionEventType> = new Set([
  "prompt.accepted",
  "tool_results.submitted",
]);
