import { statSync } from "node:fs";
import { createPrivateFile } from "../../../platform/files/private-files.ts";
import { loadEngine } from "./engine.ts";

export interface OwnerLock {
  readonly release: () => void;
  /** A lock is on the file, not on its name: of a file that was removed or replaced it says nothing to others. */
  readonly isHeld: () => boolean;
}

/**
 * Takes a lock that the kernel frees when this process dies, however it dies; undefined while another process has it.
 *
 * It is SQLite's own lock on a file of its own: Node has no other that a kill cannot leave behind.
 */
export async function acquireOwnerLock(file: string): Promise<OwnerLock | undefined> {
  const { DatabaseSync } = await loadEngine();
  createPrivateFile(file);
  const database = new DatabaseSync(file, { readOnly: false });
  try {
    database.exec("PRAGMA busy_timeout = 0; PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    if (isBusy(error)) return undefined;
    throw error;
  }
  const { ino } = statSync(file);
  return {
    release: () => database.close(),
    isHeld: () => statSync(file, { throwIfNoEntry: false })?.ino === ino,
  };
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && /database is locked|SQLITE_BUSY/i.test(error.message);
}
