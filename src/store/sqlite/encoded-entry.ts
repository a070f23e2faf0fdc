import type { Envelope } from "../../domain/envelope.ts";
import { envelopeOf } from "../envelope-of.ts";
import { said } from "../said.ts";
import type { Entry, Lease } from "../store.ts";

/** An entry on its way to the file, as the text that it becomes there. */
export interface EncodedEntry {
  readonly lease: Lease;
  readonly expectedSeq: number;
  readonly entry: Entry;
  readonly events: readonly EncodedEvent[];
  readonly reply: string | undefined;
  readonly bytes: number;
}

export interface EncodedEvent {
  readonly envelope: Envelope;
  readonly body: string;
  /** Of the body, in bytes. */
  readonly size: number;
  readonly said: string | undefined;
}

/** Throws for what JSON cannot say, before anything was written. */
export function encodeEntry(lease: Lease, expectedSeq: number, entry: Entry): EncodedEntry {
  const { sessionId } = lease;
  let seq = expectedSeq;
  let bytes = 0;
  const events = entry.events.map((draft) => {
    const body = JSON.stringify(draft);
    seq += 1;
    const size = Buffer.byteLength(body);
    bytes += size;
    return { envelope: envelopeOf(sessionId, seq, draft), body, size, said: said(draft.event) };
  });
  const reply = entry.command && JSON.stringify(entry.command.reply);
  return { lease, expectedSeq, entry, events, reply, bytes };
}
