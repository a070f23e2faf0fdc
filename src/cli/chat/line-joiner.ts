/** Gathers lines that belong together: one that ends with a backslash goes on in the next. */
export interface LineJoiner {
  /** All of it when it is whole. */
  add(line: string): string | undefined;
  /** What is there of one that goes on. */
  readonly partial: string;
  clear(): void;
}

export function createLineJoiner(): LineJoiner {
  let partial = "";
  return {
    add(line) {
      if (/(?<!\\)\\$/.test(line)) {
        partial += `${line.slice(0, -1)}\n`;
        return undefined;
      }
      const text = partial + line;
      partial = "";
      return text;
    },
    get partial() {
      return partial;
    },
    clear() {
      partial = "";
    },
  };
}
