import type { Envelope, Draft } from "../domain/events/envelope.ts";
import type { SessionEvent } from "../domain/events/session-event.ts";
import type { Lease, LogEntry } from "./log-store.ts";

/** A log entry encoded as JSON, waiting in the append queue to be written. */
export interface EncodedEntry {
  readonly lease: Lease;
  readonly expectedSeq: number;
  readonly entry: LogEntry;
  readonly events: readonly EncodedEvent[];
  readonly reply: string | undefined;
  readonly bytes: number;
}

export interface EncodedEvent {
  readonly envelope: Envelope;
  readonly body: string;
  /** The size of `body` in bytes. */
  readonly size: number;
  readonly searchableText: string | undefined;
}

/** Encodes an entry. Throws if JSON cannot represent a value (for example a cycle), before any byte is written. */
export function encodeEntry(lease: Lease, expectedSeq: number, entry: LogEntry): EncodedEntry {
  const { sessionId } = lease;
  let seq = expectedSeq;
  let bytes = 0;
  const events = entry.events.map((draft) => {
    const body = JSON.stringify(draft);
    seq += 1;
    const size = Buffer.byteLength(body);
    bytes += size;
    return {
      envelope: createEnvelope(sessionId, seq, draft),
      body,
      size,
      searchableText: readSearchableText(draft.event),
    };
  });
  const reply = entry.command && JSON.stringify(entry.command.reply);
  return { lease, expectedSeq, entry, events, reply, bytes };
}

/**
 * Adds the session id and the sequence number to a draft. The fields are copied one at a time for two reasons: extra
 * fields of a draft cannot overwrite its position, and an object spread takes V8 ten times as long.
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

/**
 * The text of an event for full-text search: complete messages of users and of the agent. Undefined for all other
 * events.
 */
export function readSearchableText(event: SessionEvent): string | undefined {
  if (event.type === "text.finished") return event.text;
  if (event.type === "message.sent") {
    return event.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  }
  return undefined;
}
