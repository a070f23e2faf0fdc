import { open, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder } from "./private-files.ts";
import { readProcessStartTime } from "../process/process-start-time.ts";

/** Another process has locked the folder. */
export class FolderLockedError extends Error {
  readonly pid: number;
  readonly file: string;

  constructor(pid: number, file: string) {
    super(`Process ${pid} has locked it with ${file}`);
    this.name = "FolderHeldError";
    this.pid = pid;
    this.file = file;
  }
}

/**
 * Locks a folder for this process. Returns a function that releases the lock. The lock of a dead process is removed.
 * Throws `FolderLockedError` if another process holds the lock.
 */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  await makeFolder(folder);
  const file = join(folder, "held-by.pid");
  for (let attempt = 0; attempt < 3; attempt++) {
    try {
      const handle = await open(file, "wx", 0o600);
      await handle.writeFile(`${process.pid} ${await readProcessStartTime(process.pid)}`);
      await handle.close();
      return () => rm(file, { force: true });
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
      const [pid, startTime = ""] = (await readFile(file, "utf8").catch(() => "")).split(" ");
      if (await isAlive(Number(pid), startTime)) throw new FolderLockedError(Number(pid), file);
      await rm(file, { force: true });
    }
  }
  throw new FolderLockedError(0, file);
}

/** False for a killed process that is not yet reaped, and for a later process with the same id. */
async function isAlive(pid: number, startTime: string): Promise<boolean> {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  if (startTime !== "") return (await readProcessStartTime(pid)) === startTime;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: the process exists and belongs to another user.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
