import type { Envelope } from "../../../domain/events/envelope.ts";
import { createEnvelope } from "../../create-envelope.ts";
import { readSearchableText } from "../../searchable-text.ts";
import type { LogEntry, Lease } from "../../store.ts";

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
