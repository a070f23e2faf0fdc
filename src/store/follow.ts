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
export function follow(
  log: LogView,
  bell: Bell,
  following: Following,
  signal: AbortSignal,
): AsyncIterable<Batch> {
  return { [Symbol.asyncIterator]: () => reader(log, bell, following, signal) };
}

interface Waiting {
  readonly resolve: (result: IteratorResult<Batch>) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Asked for one batch at a time. A generator would do the same: here an event comes to its reader with one promise, and
 * with many readers that is most of what it costs.
 */
function reader(
  log: LogView,
  bell: Bell,
  { sessionId, cursor }: Following,
  signal: AbortSignal,
): AsyncIterator<Batch> {
  const mayAlwaysRead = log.queue === undefined;
  let mayRead = mayAlwaysRead;
  let head: Head | undefined;
  let seq = 0;
  let leave = (): void => {};
  let isOver = false;
  let waiting: Waiting | undefined;

  const begin = (): Head => {
    const first = log.head(sessionId);
    if (first === undefined) throw noSession(sessionId);
    seq = startOf(sessionId, first, cursor);
    const leaveLog = log.join?.(sessionId);
    const leaveBell = bell.listen(sessionId, heard);
    // To ask the signal each time takes as long as to look for events.
    signal.addEventListener("abort", stop);
    isOver = signal.aborted;
    leave = () => {
      signal.removeEventListener("abort", stop);
      leaveBell();
      leaveLog?.();
    };
    return first;
  };
  const end = (): void => {
    isOver = true;
    leave();
    leave = () => {};
  };
  /** What is there now; undefined while that is nothing. */
  const look = (): IteratorResult<Batch> | "queue" | undefined => {
    if (isOver) return OVER;
    head ??= begin();
    if (isOver || bell.isClosed) return OVER;
    const now = log.head(sessionId);
    if (now?.incarnation !== head.incarnation) throw cursorGone(sessionId, "deleted");
    // What was dropped before this reader began is not missed by it; what has been dropped since may be.
    if (now.firstSeq !== head.firstSeq && isBehind(seq, now))
      throw cursorGone(sessionId, "retention");
    head = now;
    if (seq >= now.seq) return undefined;
    const recent = log.recent?.(sessionId, seq);
    if (recent === undefined && !mayRead) return "queue";
    mayRead = mayAlwaysRead;
    const events = recent ?? log.next(sessionId, seq);
    const last = events.at(-1);
    if (last === undefined) return undefined;
    seq = last.seq;
    return { done: false, value: { incarnation: now.incarnation, events } };
  };
  const answer = (waiter: Waiting): void => {
    try {
      const found = look();
      if (found === undefined) waiting = waiter;
      else if (found === "queue") void queued(waiter);
      else {
        if (found.done === true) end();
        waiter.resolve(found);
      }
    } catch (error) {
      end();
      waiter.reject(error);
    }
  };
  const queued = async (waiter: Waiting): Promise<void> => {
    await log.queue?.(signal);
    mayRead = true;
    // The log may be another by now.
    answer(waiter);
  };
  const heard = (): void => {
    const waiter = waiting;
    waiting = undefined;
    if (waiter !== undefined) answer(waiter);
  };

  const stop = (): void => {
    isOver = true;
    heard();
  };

  return {
    next: () => new Promise((resolve, reject) => answer({ resolve, reject })),
    async return() {
      stop();
      end();
      return OVER;
    },
  };
}

const OVER = { done: true, value: undefined } as const;

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
