import type { Cursor, Envelope } from "../domain/envelope.ts";
import type { Bell } from "./bell.ts";
import type { Batch, Head } from "./store.ts";
import { noSession, StoreError } from "./store-error.ts";

/** What may be read of the logs at this moment. */
export interface LogView {
  head(sessionId: string): Head | undefined;
  /** Events after a place, the oldest first, no more than one batch may have. */
  next(sessionId: string, after: number): readonly Envelope[];
  /** The same when they are few and at hand; undefined otherwise. */
  recent?(sessionId: string, after: number): readonly Envelope[] | undefined;
  /** Resolves when a reader may have what is large or has to be read; absent where nobody waits for that. */
  queue?(signal: AbortSignal): Promise<void>;
  /** Somebody follows a session, until they leave it. */
  join?(sessionId: string): () => void;
}

export interface Following {
  readonly sessionId: string;
  readonly cursor: Cursor | undefined;
}

/**
 * A reader is a place in the log and nothing else, so a slow one costs nobody memory or time. Between reading and waiting
 * for the bell nothing is awaited: no ring can fall between the two.
 */
export async function* follow(
  log: LogView,
  bell: Bell,
  { sessionId, cursor }: Following,
  signal: AbortSignal,
): AsyncGenerator<Batch, void, void> {
  let head = log.head(sessionId);
  if (head === undefined) throw noSession(sessionId);
  const { incarnation } = head;
  let seq = startOf(sessionId, head, cursor);
  const leave = log.join?.(sessionId);
  const listening = bell.listen(sessionId, signal);
  let mayRead = log.queue === undefined;
  try {
    while (!signal.aborted && !bell.isClosed) {
      const now = log.head(sessionId);
      if (now?.incarnation !== incarnation) throw cursorGone(sessionId, "deleted");
      // What was dropped before this reader began is not missed by it; what has been dropped since may be.
      if (now.firstSeq !== head.firstSeq && isBehind(seq, now))
        throw cursorGone(sessionId, "retention");
      head = now;
      const recent = seq < head.seq ? log.recent?.(sessionId, seq) : [];
      if (recent === undefined && !mayRead) {
        await log.queue?.(signal);
        mayRead = true;
        // The log may be another by now.
        continue;
      }
      mayRead = log.queue === undefined;
      const events = recent ?? log.next(sessionId, seq);
      const last = events.at(-1);
      if (last === undefined) await listening.wait();
      else {
        seq = last.seq;
        yield { incarnation, events };
      }
    }
  } finally {
    listening.leave();
    leave?.();
  }
}

function startOf(sessionId: string, head: Head, cursor: Cursor | undefined): number {
  if (cursor === undefined) return 0;
  if (cursor.incarnation !== head.incarnation) throw cursorGone(sessionId, "incarnation");
  if (cursor.seq > head.seq) {
    const message = `The log of session ${sessionId} ends at ${head.seq}, before ${cursor.seq}`;
    const details = { sessionId, cursor: cursor.seq, seq: head.seq };
    throw new StoreError("cursor_ahead", message, { details });
  }
  if (isBehind(cursor.seq, head)) throw cursorGone(sessionId, "retention");
  return cursor.seq;
}

/** Whoever has seen nothing yet misses nothing. */
function isBehind(seq: number, head: Head): boolean {
  return seq > 0 && seq < head.firstSeq - 1;
}

function cursorGone(
  sessionId: string,
  reason: "incarnation" | "retention" | "deleted",
): StoreError {
  const message = `Session ${sessionId} ${GONE[reason]}`;
  return new StoreError("cursor_gone", message, { details: { sessionId, reason } });
}

const GONE = {
  incarnation: "was deleted and made anew after this cursor",
  retention: "no longer has all events after this cursor",
  deleted: "was deleted",
};
