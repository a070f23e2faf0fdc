import { watch, type FSWatcher } from "node:fs";
import { lstat, readdir, realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { FileChangeKind } from "../../../domain/outputs/file-watch.ts";
import { formatThrown } from "../../../domain/errors.ts";
import { isReservedName } from "../paths/reserved-names.ts";
import { isWithin } from "../paths/protected-paths.ts";

export interface FolderWatcherOptions {
  /** Whether a path belongs to Spanline. Such paths are neither watched nor reported. */
  readonly isProtected: (path: string) => boolean;
  onChange(kind: FileChangeKind, path: string, rawKind: string): void;
  /** Called with the reason why changes may be missing. */
  onProblem(message: string): void;
}

export interface FolderWatcher {
  /** Watches a file, or a folder with its subfolders. Resolves when all changes from now on are seen. */
  add(path: string, type: "file" | "folder"): Promise<void>;
  close(): void;
}

/** Limits of one subscription. Each watched folder costs a handle of the operating system. */
const MAX_FOLDERS = 2000;
const MAX_NAMES = 100_000;
/** Notifications which wait for their look at the disk. */
const MAX_WAITING = 10_000;

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
  /** The only reported name. Undefined: all names. */
  readonly only: string | undefined;
}

class DirectoryWatcher implements FolderWatcher {
  readonly #options: FolderWatcherOptions;
  readonly #folders = new Map<string, WatchedFolder>();
  /** Paths with a notification which is not handled yet, with their raw kinds. */
  readonly #waiting = new Map<string, string>();
  #nameCount = 0;
  #isHandling = false;
  #isClosed = false;

  constructor(options: FolderWatcherOptions) {
    this.#options = options;
  }

  async add(path: string, type: "file" | "folder"): Promise<void> {
    if (type === "folder") await this.#addFolders(path, true);
    else await this.#addFolder(dirname(path), basename(path));
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

  async #addFolder(path: string, only?: string) {
    if (this.#isClosed || this.#folders.has(path)) return [];
    if (this.#folders.size >= MAX_FOLDERS || this.#nameCount >= MAX_NAMES) {
      this.#options.onProblem(
        `Only ${this.#folders.size} folders are watched: the limit is reached`,
      );
      return [];
    }
    try {
      // A folder may have been replaced by a link since it was listed.
      if ((await realpath(path)) !== path || this.#isClosed) return [];
      // Watched before it is listed, so no change is missed in between.
      const watcher = watch(path, { persistent: false }, (rawKind, name) => {
        if (name !== null) this.#notify(join(path, name), rawKind);
      });
      watcher.on("error", (error) => {
        this.#options.onProblem(`${basename(path)} is no longer watched: ${formatThrown(error)}`);
        this.#removeFolder(path);
      });
      const folder: WatchedFolder = { watcher, names: new Set(), only };
      this.#folders.set(path, folder);
      const entries = await readdir(path, { withFileTypes: true });
      for (const { name } of entries) folder.names.add(name);
      this.#nameCount += entries.length;
      return only === undefined ? entries : [];
    } catch (error) {
      // A folder deleted since it was listed needs no watcher.
      if (!isMissing(error))
        this.#options.onProblem(`${basename(path)} cannot be watched: ${formatThrown(error)}`);
      this.#removeFolder(path);
      return [];
    }
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
    if (this.#waiting.size >= MAX_WAITING)
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
    if (folder === undefined || (folder.only !== undefined && folder.only !== name)) return;
    const stats = await lstat(path).catch((error: unknown) => {
      if (isMissing(error)) return undefined;
      throw error;
    });
    if (this.#isClosed) return;
    const isKnown = folder.names.has(name);
    if (stats === undefined) {
      if (isKnown) this.#nameCount -= 1;
      folder.names.delete(name);
      this.#removeFolder(path);
      if (isKnown) this.#report("remove", path, rawKind);
      return;
    }
    if (!isKnown) this.#nameCount += 1;
    folder.names.add(name);
    const isFolder = stats.isDirectory();
    // A change of a folder is a change of its entries, which are reported themselves.
    if (!isFolder || !isKnown) this.#report(isKnown ? "modify" : "create", path, rawKind);
    if (isFolder && folder.only === undefined) await this.#addFolders(path, false);
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
