import { fstatSync } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { StoreError } from "../../store-error.ts";

/** Brings what was written to a file to the disk. */
export type SyncFileData = (file: FileHandle) => Promise<void>;

/**
 * The file that SQLite appends commits to, opened once more to bring them to the disk outside the loop's thread.
 *
 * One file all along: SQLite makes it when the database is first read, starts it over in place after a checkpoint (which
 * syncs both files itself), and removes it when the last connection closes. Nothing may open the database file itself
 * like this: closing it would drop the locks of SQLite in this process, as POSIX has it.
 */
export interface WalFile {
  sync(): Promise<void>;
  close(): Promise<void>;
}

export async function openWalFile(database: string, datasync: SyncFileData): Promise<WalFile> {
  const path = `${database}-wal`;
  const file = await open(path, "r+");
  await syncFolder(dirname(path));
  return {
    async sync() {
      await datasync(file);
      // SQLite would go on writing into a file that has no name any more.
      if (fstatSync(file.fd).nlink === 0)
        throw new StoreError("store_damaged", `${path} was removed while it was in use`);
    },
    close: () => file.close(),
  };
}

/** A new file is on the disk when its name is. Windows knows no such thing. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
