/** How much is not done yet, such as characters on their way to somebody who reads, and who waits until it is less. */
export interface PendingCounter {
  readonly length: number;
  add(amount: number): void;
  remove(amount: number): void;
  /** Nobody takes it any more. */
  clear(): void;
  /** Resolves when there is no more than this. */
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
