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
  return { [Symbol.asyncIterator]: () => new LogReader(log, notifier, start, signal) };
}

interface PendingRead {
  readonly resolve: (result: IteratorResult<EventBatch>) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Delivers one batch per `next`. This is written without a generator, because a generator needs several promises per
 * event. With many readers these promises are most of the cost.
 */
class LogReader implements AsyncIterator<EventBatch> {
  readonly #log: LogView;
  readonly #notifier: ChangeNotifier;
  readonly #start: SubscriptionStart;
  readonly #signal: AbortSignal;
  readonly #mayAlwaysRead: boolean;
  #mayRead: boolean;
  #head: LogHead | undefined;
  #seq = 0;
  #removeListeners = (): void => {};
  #isOver = false;
  #pendingRead: PendingRead | undefined;

  constructor(
    log: LogView,
    notifier: ChangeNotifier,
    start: SubscriptionStart,
    signal: AbortSignal,
  ) {
    this.#log = log;
    this.#notifier = notifier;
    this.#start = start;
    this.#signal = signal;
    this.#mayAlwaysRead = log.waitForRead === undefined;
    this.#mayRead = this.#mayAlwaysRead;
  }

  next(): Promise<IteratorResult<EventBatch>> {
    return new Promise((resolve, reject) => this.#resolveRead({ resolve, reject }));
  }

  async return(): Promise<IteratorResult<EventBatch>> {
    this.#stop();
    this.#close();
    return END_OF_STREAM;
  }

  #resolveRead(waiter: PendingRead): void {
    try {
      const outcome = this.#readAvailable();
      if (outcome === undefined) this.#pendingRead = waiter;
      else if (outcome === "queue") void this.#readWhenQueued(waiter);
      else {
        if (outcome.done === true) this.#close();
        waiter.resolve(outcome);
      }
    } catch (error) {
      this.#close();
      waiter.reject(error);
    }
  }

  async #readWhenQueued(waiter: PendingRead): Promise<void> {
    await this.#log.waitForRead?.(this.#signal);
    this.#mayRead = true;
    // The log may have changed while the reader was waiting, so everything is checked again.
    this.#resolveRead(waiter);
  }

  /**
   * The next batch, the end of the stream, or `queue` if the read must wait for its tick. Undefined if there are no new
   * events.
   */
  #readAvailable(): IteratorResult<EventBatch> | "queue" | undefined {
    if (this.#isOver) return END_OF_STREAM;
    const log = this.#log;
    const { sessionId } = this.#start;
    const head = (this.#head ??= this.#begin());
    if (this.#isOver || this.#notifier.isClosed) return END_OF_STREAM;
    const now = log.readHead(sessionId);
    if (now?.incarnation !== head.incarnation) throw createCursorGoneError(sessionId, "deleted");
    // Events dropped before the start of this reader are not missed. Events dropped since then may be.
    if (now.firstSeq !== head.firstSeq && isBehind(this.#seq, now))
      throw createCursorGoneError(sessionId, "retention");
    this.#head = now;
    if (this.#seq >= now.seq) return undefined;
    const recent = log.readRecent?.(sessionId, this.#seq);
    if (recent === undefined && !this.#mayRead) return "queue";
    this.#mayRead = this.#mayAlwaysRead;
    const events = recent ?? log.readNext(sessionId, this.#seq);
    const last = events.at(-1);
    if (last === undefined) return undefined;
    this.#seq = last.seq;
    return { done: false, value: { incarnation: now.incarnation, events } };
  }

  #begin(): LogHead {
    const { sessionId, cursor } = this.#start;
    const first = this.#log.readHead(sessionId);
    if (first === undefined) throw createNoSessionError(sessionId);
    this.#seq = resolveStart(sessionId, first, cursor);
    const leaveReaders = this.#log.addReader?.(sessionId);
    const stopListening = this.#notifier.listen(sessionId, () => this.#resumeRead());
    const stop = (): void => this.#stop();
    // Checking `signal.aborted` for each read costs as much as looking for events, so a listener sets a flag.
    this.#signal.addEventListener("abort", stop);
    this.#isOver = this.#signal.aborted;
    this.#removeListeners = () => {
      this.#signal.removeEventListener("abort", stop);
      stopListening();
      leaveReaders?.();
    };
    return first;
  }

  /** Repeats the read that waits for new events. */
  #resumeRead(): void {
    const waiter = this.#pendingRead;
    this.#pendingRead = undefined;
    if (waiter !== undefined) this.#resolveRead(waiter);
  }

  #stop(): void {
    this.#isOver = true;
    this.#resumeRead();
  }

  #close(): void {
    this.#isOver = true;
    this.#removeListeners();
    this.#removeListeners = () => {};
  }
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
  /**
   * Calls `onChange` at every change with the session's id, and without an id at a change of unknown sessions and when
   * the notifier is closed. Returns a function that stops listening.
   */
  listenToAll(onChange: (sessionId: string | undefined) => void): () => void;
  /** Closes the notifier and calls every listener a last time. */
  close(): void;
  readonly isClosed: boolean;
}

export function createChangeNotifier(): ChangeNotifier {
  const listening = new Map<string, Set<() => void>>();
  const watching = new Set<(sessionId: string | undefined) => void>();
  const notifyReaders = (sessionId: string): void => {
    listening.get(sessionId)?.forEach((onChange) => onChange());
  };
  const notify = (sessionId: string): void => {
    notifyReaders(sessionId);
    for (const onChange of watching) onChange(sessionId);
  };
  const notifyAll = (): void => {
    for (const sessionId of listening.keys()) notifyReaders(sessionId);
    for (const onChange of watching) onChange(undefined);
  };
  // A property without a getter: every append and every read checks it.
  const notifier = {
    isClosed: false,
    notify,
    notifyAll,
    listen(sessionId: string, onChange: () => void) {
      const all = listening.get(sessionId) ?? new Set();
      all.add(onChange);
      listening.set(sessionId, all);
      return () => {
        all.delete(onChange);
        if (all.size === 0 && listening.get(sessionId) === all) listening.delete(sessionId);
      };
    },
    listenToAll(onChange: (sessionId: string | undefined) => void) {
      watching.add(onChange);
      return () => void watching.delete(onChange);
    },
    close() {
      notifier.isClosed = true;
      notifyAll();
    },
  };
  return notifier;
}
