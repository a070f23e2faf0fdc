import type { Envelope, Draft } from "../domain/events/envelope.ts";
import type { SessionEvent } from "../domain/events/session-event.ts";
import type { Lease, LogEntry } from "./log-store.ts";

/** An entry on its way to the file, as the text that it becomes there. */
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
  /** Of the body, in bytes. */
  readonly size: number;
  readonly searchableText: string | undefined;
}

/** Throws for what JSON cannot say, before anything was written. */
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

/** The text of an event that a search looks through: what people and the agent said, in whole. */
export function readSearchableText(event: SessionEvent): string | undefined {
  if (event.type === "text.finished") return event.text;
  if (event.type === "message.sent") {
    return event.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  }
  return undefined;
}
