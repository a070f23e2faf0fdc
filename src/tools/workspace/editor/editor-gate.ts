/**
 * Keeps editor accesses and commands apart. An editor opens files by path, while the workspace tools hold each folder
 * open. A running command could replace a folder with a link and make the editor read or write a forbidden file.
 */
export interface EditorGate {
  /** Returns undefined while a command runs; use the disk instead. */
  runEditorAccess<Value>(work: () => Promise<Value>): Promise<Value | undefined>;
  /** Starts after all editor accesses have ended, and blocks new accesses until the command ends. */
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
