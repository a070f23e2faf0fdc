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

/** Numbers commits and tracks which of them are synced. All waiting callers share the next sync. */
export class GroupSync {
  readonly #sync: () => Promise<void>;
  readonly #failed: (error: StoreError) => void;
  #commits = 0;
  #synced = 0;
  #isRunning = false;
  #failure: StoreError | undefined;
  #waiting: PendingSync[] = [];

  /** `onFailed` is called once, before the waiting callers are rejected. */
  constructor(sync: () => Promise<void>, onFailed: (error: StoreError) => void = () => {}) {
    this.#sync = sync;
    this.#failed = onFailed;
  }

  /** Registers a new commit and returns its number. */
  commit(): number {
    this.#commits += 1;
    return this.#commits;
  }

  isSynced(commit: number): boolean {
    return commit <= this.#synced;
  }

  /**
   * The error of a failed sync. Undefined if all syncs succeeded. After a failed sync the state of the disk is unknown,
   * and a second sync may report success although the data is lost. So every later write must fail.
   */
  get failure(): StoreError | undefined {
    return this.#failure;
  }

  /**
   * Calls `onSynced` when the commit and all earlier commits are synced. Callbacks run in the order of registration.
   */
  waitForCommit(commit: number, onSynced: () => void, onFailed: (error: StoreError) => void): void {
    if (this.#failure !== undefined) return onFailed(this.#failure);
    this.#waiting.push({ commit, onSynced, onFailed });
    void this.#run();
  }

  /** Resolves when the commit and all earlier commits are synced; at once if they already are. */
  async waitUntilSynced(commit: number): Promise<void> {
    if (this.isSynced(commit)) return;
    await new Promise<void>((resolve, reject) => this.waitForCommit(commit, resolve, reject));
  }

  /** Resolves when all commits so far are synced. */
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
    const message = `The data could not be synced to the disk: ${formatThrown(cause)}`;
    const failure =
      cause instanceof StoreError ? cause : new StoreError("store_failed", message, { cause });
    const waiting = this.#waiting;
    this.#failure = failure;
    this.#waiting = [];
    this.#failed(failure);
    for (const { onFailed } of waiting) onFailed(failure);
  }
}

/** Syncs the data of a file to the disk. */
export type SyncFileData = (file: FileHandle) => Promise<void>;

/**
 * The write-ahead log of SQLite, opened a second time to sync commits outside the event loop's thread.
 *
 * The file stays the same: SQLite creates it when the database is first read, overwrites it in place after a checkpoint
 * (which syncs both files itself), and removes it when the last connection closes. Never open the database file itself
 * like this: on POSIX, closing any descriptor of a file drops all locks of this process, including those of SQLite.
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
      // If the file was removed, SQLite continues to write to a file without a name.
      if (fstatSync(file.fd).nlink === 0)
        throw new StoreError("store_damaged", `${path} was removed while it was in use`);
    },
    close: () => file.close(),
  };
}

/** Syncs the folder entry of a new file. Windows has no such operation. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
