/** Joins lines: a line that ends with a backslash continues on the next. */
export interface LineJoiner {
  /** Returns the whole text when it is complete. Undefined after a continued line. */
  add(line: string): string | undefined;
  /** The lines of an incomplete text so far. */
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
