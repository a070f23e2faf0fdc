import { statSync } from "node:fs";
import { createPrivateFile } from "../../../platform/files/private-files.ts";
import { loadEngine } from "./engine.ts";

export interface OwnerLock {
  readonly release: () => void;
  /**
   * False if the file was removed or replaced. The lock belongs to the file, not to its path, so it no longer excludes
   * other processes.
   */
  readonly isHeld: () => boolean;
}

/**
 * Acquires a lock that the kernel releases when this process dies, for whatever reason. Undefined while another
 * process holds the lock.
 *
 * The lock is an exclusive SQLite transaction on a separate file: Node has no other lock that a killed process cannot
 * leave behind.
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
