import type { SessionChanges, SessionRecord } from "./session-index.ts";
import type { ChangeNotifier } from "./subscribe-to-log.ts";

/** The session index, as seen by watchers. */
export interface IndexView {
  readonly findSession: (sessionId: string) => Promise<SessionRecord | undefined>;
  /** Called while a watcher exists. Returns a function that ends the watch. Absent if changes are always notified. */
  readonly addWatcher?: () => () => void;
}

/**
 * Watches the session index. A watcher holds only the ids of the sessions which have changed since its last read, so a
 * slow watcher receives each session once, in its newest state.
 */
export function watchSessions(
  index: IndexView,
  notifier: ChangeNotifier,
  signal: AbortSignal,
): AsyncIterable<SessionChanges> {
  return { [Symbol.asyncIterator]: () => new IndexWatcher(index, notifier, signal) };
}

/** Sessions per read. */
const MAX_CHANGES = 256;
/** Changed sessions of a slow watcher. With more, the watcher lists the sessions again. */
const MAX_WAITING_IDS = 1000;

class IndexWatcher implements AsyncIterator<SessionChanges> {
  readonly #index: IndexView;
  readonly #notifier: ChangeNotifier;
  readonly #signal: AbortSignal;
  readonly #changedIds = new Set<string>();
  /** The first read is a reset: the watcher then lists the sessions, and no later change is missed. */
  #needsReset = true;
  #isOver = false;
  #hasStarted = false;
  #wake = (): void => {};
  #removeListeners = (): void => {};

  constructor(index: IndexView, notifier: ChangeNotifier, signal: AbortSignal) {
    this.#index = index;
    this.#notifier = notifier;
    this.#signal = signal;
  }

  async next(): Promise<IteratorResult<SessionChanges>> {
    if (!this.#hasStarted) this.#start();
    while (!this.#isOver && !this.#needsReset && this.#changedIds.size === 0)
      await new Promise<void>((resolve) => (this.#wake = resolve));
    if (this.#isOver) return END_OF_STREAM;
    if (!this.#needsReset) return { done: false, value: await this.#readChanges() };
    this.#needsReset = false;
    this.#changedIds.clear();
    return { done: false, value: { reset: true, changed: [], removed: [] } };
  }

  async return(): Promise<IteratorResult<SessionChanges>> {
    this.#stop();
    return END_OF_STREAM;
  }

  #start(): void {
    this.#hasStarted = true;
    const stop = (): void => this.#stop();
    this.#signal.addEventListener("abort", stop);
    const stopListening = this.#notifier.listenToAll((sessionId) => this.#receive(sessionId));
    const leave = this.#index.addWatcher?.();
    this.#removeListeners = () => {
      this.#signal.removeEventListener("abort", stop);
      stopListening();
      leave?.();
    };
    if (this.#signal.aborted || this.#notifier.isClosed) this.#stop();
  }

  #receive(sessionId: string | undefined): void {
    if (this.#notifier.isClosed) return this.#stop();
    if (sessionId === undefined || this.#changedIds.size >= MAX_WAITING_IDS)
      this.#needsReset = true;
    else this.#changedIds.add(sessionId);
    this.#wake();
  }

  async #readChanges(): Promise<SessionChanges> {
    const changed: SessionRecord[] = [];
    const removed: string[] = [];
    for (const sessionId of [...this.#changedIds].slice(0, MAX_CHANGES)) {
      // Removed before the read: a change during the read is reported again.
      this.#changedIds.delete(sessionId);
      const record = await this.#index.findSession(sessionId);
      if (record === undefined) removed.push(sessionId);
      else changed.push(record);
    }
    return { reset: false, changed, removed };
  }

  #stop(): void {
    this.#isOver = true;
    this.#removeListeners();
    this.#removeListeners = () => {};
    this.#changedIds.clear();
    this.#wake();
  }
}

const END_OF_STREAM = { done: true, value: undefined } as const;
