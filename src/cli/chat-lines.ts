/** Gathers lines that belong together: one that ends with a backslash goes on in the next. */
export interface ChatLines {
  /** All of it when it is whole. */
  add(line: string): string | undefined;
  /** What is there of one that goes on. */
  readonly begun: string;
  clear(): void;
}

export function chatLines(): ChatLines {
  let begun = "";
  return {
    add(line) {
      if (/(?<!\\)\\$/.test(line)) {
        begun += `${line.slice(0, -1)}\n`;
        return undefined;
      }
      const whole = begun + line;
      begun = "";
      return whole;
    },
    get begun() {
      return begun;
    },
    clear() {
      begun = "";
    },
  };
}
