/**
 * Keeps editors and commands apart. An editor opens a file by its path, where we hold on to each folder on the way: while
 * a command runs, it could put a link in the place of one and have the editor read or write for it what it may not.
 */
export interface EditorGate {
  /** Undefined while a command runs: then there is the disk. */
  pass<Value>(work: () => Promise<Value>): Promise<Value | undefined>;
  /** Begins when no editor is at a file any more, and lets none begin. */
  command<Value>(work: () => Promise<Value>): Promise<Value>;
}

export function editorGate(): EditorGate {
  const passing = new Set<Promise<unknown>>();
  let commands = 0;
  return {
    async pass(work) {
      if (commands > 0) return undefined;
      const done = work();
      const over = done.catch(() => undefined);
      passing.add(over);
      try {
        return await done;
      } finally {
        passing.delete(over);
      }
    },
    async command(work) {
      commands += 1;
      try {
        await Promise.all(passing);
        return await work();
      } finally {
        commands -= 1;
      }
    },
  };
}
