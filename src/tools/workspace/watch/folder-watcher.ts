import { watch, type Dirent, type FSWatcher } from "node:fs";
import { lstat, opendir, realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { FileChangeKind } from "../../../domain/outputs/file-watch.ts";
import { formatThrown } from "../../../domain/errors.ts";
import { readStats, toIdentity, type Identity } from "../files/file-identity.ts";
import { isReservedName } from "../paths/reserved-names.ts";
import { isWithin } from "../paths/protected-paths.ts";

export interface FolderWatcherOptions {
  /** Whether a path belongs to Spanline. Such paths are neither watched nor reported. */
  readonly isProtected: (path: string) => boolean;
  onChange(kind: FileChangeKind, path: string, rawKind: string): void;
  /** Called with the reason why changes may be missing. */
  onProblem(message: string): void;
  readonly limits?: FolderWatcherLimits;
}

/** Limits of one subscription. */
export interface FolderWatcherLimits {
  /** Watched folders. Each costs a handle of the operating system. */
  readonly folders: number;
  /** Names of files and folders in memory. */
  readonly names: number;
  /** Notifications which wait for their look at the disk. */
  readonly waiting: number;
}

export interface FolderWatcher {
  /** Watches a file, or a folder with its subfolders. Resolves when all changes from now on are seen. */
  add(path: string, type: "file" | "folder"): Promise<void>;
  close(): void;
}

const DEFAULT_LIMITS: FolderWatcherLimits = { folders: 2000, names: 100_000, waiting: 10_000 };

/** Folders with many generated files, in which people make no changes. */
const IGNORED_FOLDERS: ReadonlySet<string> = new Set([".git", "node_modules"]);

/**
 * Watches folders with a watcher for each folder: the recursive watcher of Node can exclude no folder, so it would
 * report protected files and has no limit. Symbolic links are not followed.
 */
export function createFolderWatcher(options: FolderWatcherOptions): FolderWatcher {
  return new DirectoryWatcher(options);
}

interface WatchedFolder {
  readonly watcher: FSWatcher;
  /** The names in the folder at the last look. */
  readonly names: Set<string>;
  /** Device and inode: another folder may get the same path. */
  readonly identity: Identity;
  /** The only reported names. Undefined: all names. */
  only: Set<string> | undefined;
}

class DirectoryWatcher implements FolderWatcher {
  readonly #options: FolderWatcherOptions;
  readonly #limits: FolderWatcherLimits;
  readonly #folders = new Map<string, WatchedFolder>();
  /** Paths with a notification which is not handled yet, with their raw kinds. */
  readonly #waiting = new Map<string, string>();
  #nameCount = 0;
  #isHandling = false;
  #isClosed = false;

  constructor(options: FolderWatcherOptions) {
    this.#options = options;
    this.#limits = options.limits ?? DEFAULT_LIMITS;
  }

  async add(path: string, type: "file" | "folder"): Promise<void> {
    if (type === "folder") await this.#addFolders(path, true);
    else await this.#addFile(dirname(path), basename(path));
  }

  close(): void {
    this.#isClosed = true;
    for (const { watcher } of this.#folders.values()) watcher.close();
    this.#folders.clear();
    this.#waiting.clear();
  }

  /** Adds a folder and its subfolders. Files of a folder which appeared later are reported as new. */
  async #addFolders(root: string, isInitial: boolean): Promise<void> {
    const remaining = [root];
    for (let path = remaining.pop(); path !== undefined; path = remaining.pop()) {
      const entries = await this.#addFolder(path);
      for (const entry of entries) {
        const inner = join(path, entry.name);
        if (!isInitial) this.#report("create", inner, "rename");
        if (entry.isDirectory() && this.#isWatchable(inner)) remaining.push(inner);
      }
    }
  }

  /** Watches all names in a folder, and returns its entries. Empty if the folder is watched already. */
  async #addFolder(path: string): Promise<readonly Dirent[]> {
    const known = this.#folders.get(path);
    if (known !== undefined && known.only === undefined) return [];
    const folder = known ?? (await this.#watch(path, undefined));
    if (folder === undefined) return [];
    folder.only = undefined;
    return this.#listEntries(path, folder).catch((error: unknown) => {
      this.#dropUnreadable(path, error);
      return [];
    });
  }

  async #addFile(path: string, name: string): Promise<void> {
    const folder = this.#folders.get(path) ?? (await this.#watch(path, new Set()));
    if (folder?.only === undefined) return;
    folder.only.add(name);
    this.#rememberName(folder, name);
  }

  /** Creates the watcher of a folder. Undefined if the folder cannot be watched. */
  async #watch(path: string, only: Set<string> | undefined): Promise<WatchedFolder | undefined> {
    if (this.#isClosed) return undefined;
    if (this.#folders.size >= this.#limits.folders || this.#nameCount >= this.#limits.names) {
      this.#options.onProblem(
        `Only ${this.#folders.size} folders are watched: the limit is reached`,
      );
      return undefined;
    }
    try {
      // A folder may have been replaced by a link since it was listed.
      if ((await realpath(path)) !== path) return undefined;
      const identity = toIdentity(await lstat(path, { bigint: true }));
      if (this.#isClosed) return undefined;
      // Watched before it is listed, so no change is missed in between.
      const watcher = watch(path, { persistent: false }, (rawKind, name) => {
        if (name !== null) this.#notify(join(path, name), rawKind);
      });
      watcher.on("error", (error) => {
        this.#options.onProblem(`${basename(path)} is no longer watched: ${formatThrown(error)}`);
        this.#removeFolder(path);
      });
      const folder: WatchedFolder = { watcher, names: new Set(), identity, only };
      this.#folders.set(path, folder);
      return folder;
    } catch (error) {
      this.#dropUnreadable(path, error);
      return undefined;
    }
  }

  /** Reads at most as many entries as the limit of names allows: a folder may have millions of files. */
  async #listEntries(path: string, folder: WatchedFolder): Promise<readonly Dirent[]> {
    const entries: Dirent[] = [];
    for await (const entry of await opendir(path)) {
      if (this.#isClosed) return [];
      if (!this.#rememberName(folder, entry.name)) {
        this.#options.onProblem(
          `${basename(path)} has too many files: only ${entries.length} are watched`,
        );
        break;
      }
      entries.push(entry);
    }
    return entries;
  }

  /** False if the limit of names is reached. */
  #rememberName({ names }: WatchedFolder, name: string): boolean {
    if (names.has(name)) return true;
    if (this.#nameCount >= this.#limits.names) return false;
    names.add(name);
    this.#nameCount += 1;
    return true;
  }

  #dropUnreadable(path: string, error: unknown): void {
    // A folder deleted since it was listed needs no watcher.
    if (!isMissing(error))
      this.#options.onProblem(`${basename(path)} cannot be watched: ${formatThrown(error)}`);
    this.#removeFolder(path);
  }

  #removeFolder(path: string): void {
    for (const [known, { watcher, names }] of this.#folders) {
      if (!isWithin(known, path)) continue;
      watcher.close();
      this.#nameCount -= names.size;
      this.#folders.delete(known);
    }
  }

  #isWatchable(path: string): boolean {
    const name = basename(path);
    return !IGNORED_FOLDERS.has(name) && !isReservedName(name) && !this.#options.isProtected(path);
  }

  #report(kind: FileChangeKind, path: string, rawKind: string): void {
    if (this.#isWatchable(path)) this.#options.onChange(kind, path, rawKind);
  }

  #notify(path: string, rawKind: string): void {
    if (this.#isClosed || !this.#isWatchable(path)) return;
    if (this.#waiting.size >= this.#limits.waiting)
      return this.#options.onProblem("Too many changes at once: some are missing");
    // A rename tells more than a change.
    if (this.#waiting.get(path) !== "rename") this.#waiting.set(path, rawKind);
    if (!this.#isHandling) void this.#handleWaiting();
  }

  /** Handles notifications one at a time, so two looks at the same folder cannot overtake each other. */
  async #handleWaiting(): Promise<void> {
    this.#isHandling = true;
    for (const [path, rawKind] of this.#waiting) {
      this.#waiting.delete(path);
      await this.#handle(path, rawKind).catch((error: unknown) => {
        this.#options.onProblem(formatThrown(error));
      });
    }
    this.#isHandling = false;
  }

  async #handle(path: string, rawKind: string): Promise<void> {
    const folder = this.#folders.get(dirname(path));
    const name = basename(path);
    if (folder === undefined) return;
    if (name === basename(dirname(path))) await this.#checkFolder(dirname(path), folder);
    if (folder.only !== undefined && !folder.only.has(name)) return;
    const stats = await lstat(path).catch((error: unknown) => {
      if (isMissing(error)) return undefined;
      throw error;
    });
    if (this.#isClosed) return;
    const isKnown = folder.names.has(name);
    if (stats === undefined) {
      if (folder.names.delete(name)) this.#nameCount -= 1;
      this.#removeFolder(path);
      if (isKnown) this.#report("remove", path, rawKind);
      return;
    }
    this.#rememberName(folder, name);
    const isFolder = stats.isDirectory();
    // A change of a folder is a change of its entries, which are reported themselves.
    if (!isFolder || !isKnown) this.#report(isKnown ? "modify" : "create", path, rawKind);
    if (isFolder && folder.only === undefined) await this.#addFolders(path, false);
  }

  /**
   * Reports a folder which was removed or replaced: its watcher is silent from then on. The operating system names the
   * folder itself in the notification. The watcher of a parent reports the removal of an inner folder.
   */
  async #checkFolder(path: string, folder: WatchedFolder): Promise<void> {
    const stats = await readStats(path);
    if (stats !== undefined && toIdentity(stats) === folder.identity) return;
    if (this.#isClosed || this.#folders.get(path) !== folder) return;
    if (!this.#folders.has(dirname(path)))
      this.#options.onProblem(
        `${basename(path)} is no longer watched: it was removed. Fix: subscribe again`,
      );
    this.#removeFolder(path);
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
