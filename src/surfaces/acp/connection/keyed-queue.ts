import { createPendingCounter } from "./pending-counter.ts";

/** Work in lanes: one task at a time in each, in the order in which it came; lanes do not wait for each other. */
export interface KeyedQueue {
  run(lane: string, task: () => Promise<void>): void;
  /** Tasks that are not finished. */
  readonly size: number;
  /** Resolves when no more than this many tasks are unfinished. */
  waitUntilBelow(tasks: number): Promise<void>;
}

/** Tasks see to their own errors; one that throws is reported and does not stop its lane. */
export function createKeyedQueue(report: (error: unknown) => void): KeyedQueue {
  const tails = new Map<string, Promise<void>>();
  const unfinished = createPendingCounter();

  function settle(lane: string, tail: Promise<void>): void {
    if (tails.get(lane) === tail) tails.delete(lane);
    unfinished.remove(1);
  }

  return {
    run(lane, task) {
      unfinished.add(1);
      const tail: Promise<void> = (tails.get(lane) ?? Promise.resolve())
        .then(task)
        .catch(report)
        .then(() => settle(lane, tail));
      tails.set(lane, tail);
    },
    get size() {
      return unfinished.length;
    },
    waitUntilBelow: (tasks) => unfinished.waitUntilBelow(tasks),
  };
}
