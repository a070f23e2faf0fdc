/** An amount of pending work, such as queued characters, and the callers waiting until the amount shrinks. */
export interface PendingCounter {
  readonly length: number;
  add(amount: number): void;
  remove(amount: number): void;
  /** Sets the amount to zero, because the reader is gone, and resolves all waiting callers. */
  clear(): void;
  /** Resolves when the amount is at most `limit`. */
  readonly waitUntilBelow: (limit: number) => Promise<void>;
}

export function createPendingCounter(): PendingCounter {
  let length = 0;
  let waiting: { readonly limit: number; readonly resolve: () => void }[] = [];
  function shrink(to: number): void {
    length = to;
    const ready = waiting.filter(({ limit }) => length <= limit);
    waiting = waiting.filter(({ limit }) => length > limit);
    for (const { resolve } of ready) resolve();
  }
  return {
    get length() {
      return length;
    },
    add(amount) {
      length += amount;
    },
    remove: (amount) => shrink(length - amount),
    clear: () => shrink(0),
    waitUntilBelow: (limit) =>
      length <= limit
        ? Promise.resolve()
        : new Promise((resolve) => {
            waiting.push({ limit, resolve });
          }),
  };
}

/** Tasks with the same key run one at a time, in order; tasks with different keys do not wait for each other. */
export interface KeyedQueue {
  /** A task without a key starts at once and waits for no other task. */
  run(key: string | undefined, task: () => Promise<void>): void;
  /** Number of unfinished tasks. */
  readonly size: number;
  /** Resolves when at most `tasks` tasks are unfinished. */
  waitUntilBelow(tasks: number): Promise<void>;
}

/** Tasks handle their own errors. A throwing task is reported, and the tasks behind it continue. */
export function createKeyedQueue(report: (error: unknown) => void): KeyedQueue {
  const tails = new Map<string | undefined, Promise<void>>();
  const unfinished = createPendingCounter();

  function settle(key: string | undefined, tail: Promise<void>): void {
    if (tails.get(key) === tail) tails.delete(key);
    unfinished.remove(1);
  }

  return {
    run(key, task) {
      unfinished.add(1);
      const tail: Promise<void> = (tails.get(key) ?? Promise.resolve())
        .then(task)
        .catch(report)
        .then(() => settle(key, tail));
      if (key !== undefined) tails.set(key, tail);
    },
    get size() {
      return unfinished.length;
    },
    waitUntilBelow: (tasks) => unfinished.waitUntilBelow(tasks),
  };
}
