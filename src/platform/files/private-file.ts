import { chmodSync, closeSync, openSync, statSync } from "node:fs";

/**
 * Makes a file that only its user can read, and takes the rights of others from one that is there.
 *
 * One that is there is not opened: closing it would drop the locks that this process has on it, as POSIX has it. Nothing
 * is awaited between making a new one and closing it, so nobody here can have locked it.
 */
export function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    restrictToOwner(path);
  }
}

/** Takes the rights of others from a file, if it is there. */
export function restrictToOwner(path: string): void {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  if ((mode & 0o077) === 0) return;
  try {
    chmodSync(path, mode & 0o700);
  } catch {
    // Another user's, who says who may read it.
  }
}
