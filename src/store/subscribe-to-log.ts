import type { Cursor, Envelope } from "../domain/events/envelope.ts";
import { createNoSessionError, StoreError } from "./store-error.ts";
import type { EventBatch, LogHead } from "./log-store.ts";

/** The visible part of all logs, as seen by subscriptions. */
export interface LogView {
  readHead(sessionId: string): LogHead | undefined;
  /** Events after `after`, the oldest first, at most one batch. */
  readNext(sessionId: string, after: number): readonly Envelope[];
  /** Like `readNext` for a small batch in memory. Undefined if the events are large or must be read from the file. */
  readRecent?(sessionId: string, after: number): readonly Envelope[] | undefined;
  /** Resolves when a reader may call `readNext`. Absent if reads do not block the event loop. */
  waitForRead?(signal: AbortSignal): Promise<void>;
  /** Registers a reader of a session. Returns a function that removes the reader. */
  addReader?(sessionId: string): () => void;
}

export interface SubscriptionStart {
  readonly sessionId: string;
  readonly cursor: Cursor | undefined;
}

/**
 * Subscribes to the log of a session. A reader is only a position in the log, so a slow reader costs no memory and
 * delays no other reader. There is no `await` between reading and registering for changes, so no change is missed.
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
 * Delivers one batch per `next`. This is written without a generator, because a generator needs several promises per
 * event. With many readers these promises are most of the cost.
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
    // Checking `signal.aborted` for each read costs as much as looking for events, so a listener sets a flag.
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
  /**
   * The next batch, the end of the stream, or `queue` if the read must wait for its tick. Undefined if there are no new
   * events.
   */
  const readAvailable = (): IteratorResult<EventBatch> | "queue" | undefined => {
    if (isOver) return END_OF_STREAM;
    head ??= begin();
    if (isOver || notifier.isClosed) return END_OF_STREAM;
    const now = log.readHead(sessionId);
    if (now?.incarnation !== head.incarnation) throw createCursorGoneError(sessionId, "deleted");
    // Events dropped before the start of this reader are not missed. Events dropped since then may be.
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
    // The log may have changed while the reader was waiting, so everything is checked again.
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

/** True if events after `seq` were dropped. A reader at 0 starts with the oldest stored event and misses none. */
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
  incarnation: "was deleted and created again after this cursor",
  retention: "no longer has all events after this cursor",
  deleted: "was deleted",
};

/** Notifies the waiting readers of a session about a change. */
export interface ChangeNotifier {
  notify(sessionId: string): void;
  /** Notifies the readers of every session. */
  notifyAll(): void;
  /**
   * Calls `onChange` at every change of the session, and when the notifier is closed. Returns a function that stops
   * listening.
   */
  listen(sessionId: string, onChange: () => void): () => void;
  /** Closes the notifier and calls every listener a last time. */
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
