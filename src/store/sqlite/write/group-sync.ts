import { fstatSync } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { formatThrown } from "../../../domain/errors.ts";
import { StoreError } from "../../store-error.ts";

interface PendingSync {
  readonly commit: number;
  readonly onSynced: () => void;
  readonly onFailed: (error: StoreError) => void;
}

/** Commits in their order, and how many of them are on the disk. All that wait share the next sync. */
export class GroupSync {
  readonly #sync: () => Promise<void>;
  readonly #failed: (error: StoreError) => void;
  #commits = 0;
  #synced = 0;
  #isRunning = false;
  #failure: StoreError | undefined;
  #waiting: PendingSync[] = [];

  /** `failed` is told first of a sync that failed, and once. */
  constructor(sync: () => Promise<void>, onFailed: (error: StoreError) => void = () => {}) {
    this.#sync = sync;
    this.#failed = onFailed;
  }

  /** Counts a commit that was just made. */
  commit(): number {
    this.#commits += 1;
    return this.#commits;
  }

  isSynced(commit: number): boolean {
    return commit <= this.#synced;
  }

  /** After a failed sync nobody knows what is on the disk, and asking again does not tell. */
  get failure(): StoreError | undefined {
    return this.#failure;
  }

  /** Calls back in the order of the calls, once a commit and all before it are on the disk. */
  waitForCommit(commit: number, onSynced: () => void, onFailed: (error: StoreError) => void): void {
    if (this.#failure !== undefined) return onFailed(this.#failure);
    this.#waiting.push({ commit, onSynced, onFailed });
    void this.#run();
  }

  /** Resolves when a commit and all before it are on the disk: at once if they are. */
  async waitUntilSynced(commit: number): Promise<void> {
    if (this.isSynced(commit)) return;
    await new Promise<void>((resolve, reject) => this.waitForCommit(commit, resolve, reject));
  }

  /** Resolves when all commits up to now are on the disk. */
  syncNow(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.waitForCommit(this.#commits, resolve, reject);
    });
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      const through = this.#commits;
      try {
        await this.#sync();
        this.#synced = through;
        this.#settle();
      } catch (error) {
        this.#fail(error);
      }
    }
    this.#isRunning = false;
  }

  #settle(): void {
    const waiting = this.#waiting;
    this.#waiting = waiting.filter(({ commit }) => !this.isSynced(commit));
    for (const { commit, onSynced } of waiting) if (this.isSynced(commit)) onSynced();
  }

  #fail(cause: unknown): void {
    const message = `The disk did not take what was written: ${formatThrown(cause)}`;
    const failure =
      cause instanceof StoreError ? cause : new StoreError("store_failed", message, { cause });
    const waiting = this.#waiting;
    this.#failure = failure;
    this.#waiting = [];
    this.#failed(failure);
    for (const { onFailed } of waiting) onFailed(failure);
  }
}

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
