import type { Cursor, Envelope } from "../domain/events/envelope.ts";
import { createNoSessionError, StoreError } from "./store-error.ts";
import type { EventBatch, LogHead } from "./log-store.ts";

/** What may be read of the logs at this moment. */
export interface LogView {
  readHead(sessionId: string): LogHead | undefined;
  /** Events after a place, the oldest first, no more than one batch may have. */
  readNext(sessionId: string, after: number): readonly Envelope[];
  /** The same when they are few and at hand; undefined otherwise. */
  readRecent?(sessionId: string, after: number): readonly Envelope[] | undefined;
  /** Resolves when a reader may have what is large or has to be read; absent where nobody waits for that. */
  waitForRead?(signal: AbortSignal): Promise<void>;
  /** Somebody follows a session, until they leave it. */
  addReader?(sessionId: string): () => void;
}

export interface SubscriptionStart {
  readonly sessionId: string;
  readonly cursor: Cursor | undefined;
}

/**
 * A reader is a place in the log and nothing else, so a slow one costs nobody memory or time. Between reading and waiting
 * for the bell nothing is awaited: no ring can fall between the two.
 */
export function subscribeToLog(
  log: LogView,
  notifier: ChangeNotifier,
  start: SubscriptionStart,
  signal: AbortSignal,
): AsyncIterable<EventBatch> {
  return { [Symbol.asyncIterator]: () => createReader(log, notifier, start, signal) };
}

interface PendingRead {
  readonly resolve: (result: IteratorResult<EventBatch>) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Asked for one batch at a time. A generator would do the same: here an event comes to its reader with one promise, and
 * with many readers that is most of what it costs.
 */
function createReader(
  log: LogView,
  notifier: ChangeNotifier,
  { sessionId, cursor }: SubscriptionStart,
  signal: AbortSignal,
): AsyncIterator<EventBatch> {
  const mayAlwaysRead = log.waitForRead === undefined;
  let mayRead = mayAlwaysRead;
  let head: LogHead | undefined;
  let seq = 0;
  let removeListeners = (): void => {};
  let isOver = false;
  let pendingRead: PendingRead | undefined;

  const begin = (): LogHead => {
    const first = log.readHead(sessionId);
    if (first === undefined) throw createNoSessionError(sessionId);
    seq = resolveStart(sessionId, first, cursor);
    const leaveReaders = log.addReader?.(sessionId);
    const stopListening = notifier.listen(sessionId, onChange);
    // To ask the signal each time takes as long as to look for events.
    signal.addEventListener("abort", stop);
    isOver = signal.aborted;
    removeListeners = () => {
      signal.removeEventListener("abort", stop);
      stopListening();
      leaveReaders?.();
    };
    return first;
  };
  const close = (): void => {
    isOver = true;
    removeListeners();
    removeListeners = () => {};
  };
  /** What is there now; undefined while that is nothing. */
  const readAvailable = (): IteratorResult<EventBatch> | "queue" | undefined => {
    if (isOver) return END_OF_STREAM;
    head ??= begin();
    if (isOver || notifier.isClosed) return END_OF_STREAM;
    const now = log.readHead(sessionId);
    if (now?.incarnation !== head.incarnation) throw createCursorGoneError(sessionId, "deleted");
    // What was dropped before this reader began is not missed by it; what has been dropped since may be.
    if (now.firstSeq !== head.firstSeq && isBehind(seq, now))
      throw createCursorGoneError(sessionId, "retention");
    head = now;
    if (seq >= now.seq) return undefined;
    const recent = log.readRecent?.(sessionId, seq);
    if (recent === undefined && !mayRead) return "queue";
    mayRead = mayAlwaysRead;
    const events = recent ?? log.readNext(sessionId, seq);
    const last = events.at(-1);
    if (last === undefined) return undefined;
    seq = last.seq;
    return { done: false, value: { incarnation: now.incarnation, events } };
  };
  const resolveRead = (waiter: PendingRead): void => {
    try {
      const outcome = readAvailable();
      if (outcome === undefined) pendingRead = waiter;
      else if (outcome === "queue") void readWhenQueued(waiter);
      else {
        if (outcome.done === true) close();
        waiter.resolve(outcome);
      }
    } catch (error) {
      close();
      waiter.reject(error);
    }
  };
  const readWhenQueued = async (waiter: PendingRead): Promise<void> => {
    await log.waitForRead?.(signal);
    mayRead = true;
    // The log may be another by now.
    resolveRead(waiter);
  };
  const onChange = (): void => {
    const waiter = pendingRead;
    pendingRead = undefined;
    if (waiter !== undefined) resolveRead(waiter);
  };

  const stop = (): void => {
    isOver = true;
    onChange();
  };

  return {
    next: () => new Promise((resolve, reject) => resolveRead({ resolve, reject })),
    async return() {
      stop();
      close();
      return END_OF_STREAM;
    },
  };
}

const END_OF_STREAM = { done: true, value: undefined } as const;

function resolveStart(sessionId: string, head: LogHead, cursor: Cursor | undefined): number {
  if (cursor === undefined) return 0;
  if (cursor.incarnation !== head.incarnation)
    throw createCursorGoneError(sessionId, "incarnation");
  if (cursor.seq > head.seq) {
    const message = `The log of session ${sessionId} ends at ${head.seq}, before ${cursor.seq}`;
    const details = { sessionId, cursor: cursor.seq, seq: head.seq };
    throw new StoreError("cursor_ahead", message, { details });
  }
  if (isBehind(cursor.seq, head)) throw createCursorGoneError(sessionId, "retention");
  return cursor.seq;
}

/** Whoever has seen nothing yet misses nothing. */
function isBehind(seq: number, head: LogHead): boolean {
  return seq > 0 && seq < head.firstSeq - 1;
}

function createCursorGoneError(
  sessionId: string,
  reason: "incarnation" | "retention" | "deleted",
): StoreError {
  const message = `Session ${sessionId} ${GONE_REASONS[reason]}`;
  return new StoreError("cursor_gone", message, { details: { sessionId, reason } });
}

const GONE_REASONS = {
  incarnation: "was deleted and made anew after this cursor",
  retention: "no longer has all events after this cursor",
  deleted: "was deleted",
};

/** Tells those who wait for a session that something about it has changed. */
export interface ChangeNotifier {
  notify(sessionId: string): void;
  /** Rings for every session. */
  notifyAll(): void;
  /** Calls at every ring of a session, and when the bell is closed, until it is left. */
  listen(sessionId: string, onChange: () => void): () => void;
  /** Nobody waits any more. */
  close(): void;
  readonly isClosed: boolean;
}

export function createChangeNotifier(): ChangeNotifier {
  const listening = new Map<string, Set<() => void>>();
  let isClosed = false;
  const notify = (sessionId: string): void => {
    listening.get(sessionId)?.forEach((onChange) => onChange());
  };
  const notifyAll = (): void => {
    for (const sessionId of listening.keys()) notify(sessionId);
  };
  return {
    notify,
    notifyAll,
    listen(sessionId, onChange) {
      const all = listening.get(sessionId) ?? new Set();
      all.add(onChange);
      listening.set(sessionId, all);
      return () => {
        all.delete(onChange);
        if (all.size === 0 && listening.get(sessionId) === all) listening.delete(sessionId);
      };
    },
    close() {
      isClosed = true;
      notifyAll();
    },
    get isClosed() {
      return isClosed;
    },
  };
}
