/**
 * Keeps editors and commands apart. An editor opens a file by its path, where we hold on to each folder on the way: while
 * a command runs, it could put a link in the place of one and have the editor read or write for it what it may not.
 */
export interface EditorGate {
  /** Undefined while a command runs: then there is the disk. */
  runEditorAccess<Value>(work: () => Promise<Value>): Promise<Value | undefined>;
  /** Begins when no editor is at a file any more, and lets none begin. */
  runCommand<Value>(work: () => Promise<Value>): Promise<Value>;
}

export function createEditorGate(): EditorGate {
  const activeAccesses = new Set<Promise<unknown>>();
  let commands = 0;
  return {
    async runEditorAccess(work) {
      if (commands > 0) return undefined;
      const access = work();
      const over = access.catch(() => undefined);
      activeAccesses.add(over);
      try {
        return await access;
      } finally {
        activeAccesses.delete(over);
      }
    },
    async runCommand(work) {
      commands += 1;
      try {
        await Promise.all(activeAccesses);
        return await work();
      } finally {
        commands -= 1;
      }
    },
  };
}
