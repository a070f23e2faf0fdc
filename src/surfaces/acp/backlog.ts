/** How much is on its way to somebody who reads, and who waits until it is less. */
export interface Backlog {
  /** Characters. */
  readonly length: number;
  add(characters: number): void;
  remove(characters: number): void;
  /** Nobody takes them any more. */
  clear(): void;
  /** Resolves when there are no more than this many. */
  below(characters: number): Promise<void>;
}

export function createBacklog(): Backlog {
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
    add(characters) {
      length += characters;
    },
    remove: (characters) => shrink(length - characters),
    clear: () => shrink(0),
    below: (limit) =>
      length <= limit
        ? Promise.resolve()
        : new Promise((resolve) => {
            waiting.push({ limit, resolve });
          }),
  };
}
