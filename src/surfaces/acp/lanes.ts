/** Work in lanes: one task at a time in each, in the order in which it came; lanes do not wait for each other. */
export interface Lanes {
  run(lane: string, task: () => Promise<void>): void;
  /** Resolves when no more than this many tasks are unfinished. */
  below(tasks: number): Promise<void>;
}

/** Tasks see to their own errors; one that throws is reported and does not stop its lane. */
export function createLanes(report: (error: unknown) => void): Lanes {
  const tails = new Map<string, Promise<void>>();
  let unfinished = 0;
  let waiting: { readonly limit: number; readonly resolve: () => void }[] = [];

  function settle(lane: string, tail: Promise<void>): void {
    unfinished -= 1;
    if (tails.get(lane) === tail) tails.delete(lane);
    const ready = waiting.filter(({ limit }) => unfinished <= limit);
    waiting = waiting.filter(({ limit }) => unfinished > limit);
    for (const { resolve } of ready) resolve();
  }

  return {
    run(lane, task) {
      unfinished += 1;
      const tail: Promise<void> = (tails.get(lane) ?? Promise.resolve())
        .then(task)
        .catch(report)
        .then(() => settle(lane, tail));
      tails.set(lane, tail);
    },
    below: (limit) =>
      unfinished <= limit
        ? Promise.resolve()
        : new Promise((resolve) => {
            waiting.push({ limit, resolve });
          }),
  };
}
