import type { Draft, Envelope } from "../domain/events/envelope.ts";

/**
 * A draft in its place. Field by field: a draft that has more than it should cannot say where it stands, and spreading
 * it before other fields takes V8 ten times as long.
 */
export function createEnvelope(sessionId: string, seq: number, draft: Draft): Envelope {
  const { at, turnId, actor, cause, visibility, event } = draft;
  const envelope: { -readonly [Field in keyof Envelope]: Envelope[Field] } = {
    sessionId,
    seq,
    at,
    visibility,
    event,
  };
  if (turnId !== undefined) envelope.turnId = turnId;
  if (actor !== undefined) envelope.actor = actor;
  if (cause !== undefined) envelope.cause = cause;
  return envelope;
}
