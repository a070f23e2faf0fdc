import type { Envelope } from "../../domain/envelope.ts";
import { SpanlineError } from "../../domain/errors.ts";
import type { Sessions } from "../../session/sessions.ts";
import type { SessionRecord } from "./owned-session.ts";

type Log = Pick<SessionRecord, "sessionId" | "incarnation">;

/** One event by its number; undefined where the log has none, or has another one there by now. */
export async function envelopeAt(
  log: Log,
  seq: number,
  sessions: Sessions,
): Promise<Envelope | undefined> {
  for await (const envelope of envelopesFrom(log, { first: seq, last: seq }, sessions)) {
    return envelope.seq === seq ? envelope : undefined;
  }
  return undefined;
}

/** What the log has from one number to another; it ends there, or where the log does not reach it. */
export async function* envelopesFrom(
  { sessionId, incarnation }: Log,
  { first, last }: { readonly first: number; readonly last: number },
  sessions: Sessions,
): AsyncGenerator<Envelope> {
  const record = await sessions.find(sessionId);
  const end = Math.min(last, record?.seq ?? 0);
  if (record?.incarnation !== incarnation || first > end) return;
  let next = first;
  const over = new AbortController();
  try {
    for await (const envelope of keptFrom(
      { sessionId, incarnation },
      next,
      sessions,
      over.signal,
    )) {
      if (envelope.seq >= next) yield envelope;
      next = Math.max(next, envelope.seq + 1);
      if (next > end) return;
    }
  } finally {
    over.abort();
  }
}

/** Retention drops pieces of texts that have ended: then all that is kept is read, and has the whole of them. */
async function* keptFrom(
  { sessionId, incarnation }: Log,
  first: number,
  sessions: Sessions,
  signal: AbortSignal,
): AsyncGenerator<Envelope> {
  const cursor = { incarnation, seq: first - 1 };
  try {
    for await (const { events } of sessions.subscribe(sessionId, cursor, signal)) yield* events;
  } catch (error) {
    if (!(error instanceof SpanlineError) || error.code !== "cursor_gone") throw error;
    for await (const { events } of sessions.subscribe(sessionId, undefined, signal)) yield* events;
  }
}
