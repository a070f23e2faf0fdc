import { constants, existsSync, type Dirent } from "node:fs";
import { lstat, mkdir, open, opendir, readlink, realpath, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { isReservedName } from "../paths/reserved-names.ts";
import type { ProtectedPaths } from "../paths/protected-paths.ts";
import { createRefusal } from "../tool-refusal.ts";
import { toIdentity } from "./file-identity.ts";
import { readErrorCode } from "./system-error.ts";

/** An open folder. Later replacements of a folder on its path cannot redirect accesses through it. */
export interface Folder {
  /** Relative to the workspace, for messages. */
  readonly path: string;
  readonly hostPath: string;
  /** A path to an entry of exactly this folder. Only the last name is looked up. */
  resolve(name: string): string;
  /** A path to the folder itself, used as the working directory of a child process. */
  readonly self: string;
  /** Opens a subfolder. Refuses links. */
  enter(name: string): Promise<Folder>;
  make(name: string): Promise<void>;
  /** Unsorted entries, up to the limit. */
  entries(limit: number): Promise<Dirent[]>;
  /**
   * Throws if a file opened through this folder may be another file. Not needed, and undefined, with the `descriptor`
   * anchor.
   */
  confirm(): Promise<void> | undefined;
  /** Throws if the folder is no longer at its path. */
  check(): Promise<void>;
  /** Syncs the folder's entries to the disk. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

export interface FolderOptions {
  readonly places: ProtectedPaths;
  /** How names are bound to the open folder. Default: `descriptor` if the system supports it. */
  readonly anchor?: Anchor;
}

/**
 * - `descriptor`: names are resolved from the open folder itself.
 * - `path`: names are resolved by path without following links, and the result is then compared with the open folder.
 */
export type Anchor = "descriptor" | "path";

/** Opens a folder by its real path. A workspace path comes from the configuration, so its parents are trusted. */
async function openFolder(
  hostPath: string,
  options: FolderOptions & { readonly isNamed?: boolean },
): Promise<Folder> {
  const { isNamed = true } = options;
  const folderPath = { path: isNamed ? "." : hostPath, hostPath };
  const handle = await openHandle(hostPath, folderPath);
  return createFolder(handle, folderPath, { anchor: selectAnchor(), ...options });
}

/**
 * Opens a folder outside the workspace. Checks after opening that no part of its path is a link, so that a later change
 * has no effect.
 */
export async function openOutsideFolder(hostPath: string, options: FolderOptions): Promise<Folder> {
  const folderPath = { path: hostPath, hostPath };
  const handle = await openHandle(hostPath, folderPath);
  const folder = await createFolder(handle, folderPath, { anchor: selectAnchor(), ...options });
  try {
    await folder.check();
    return folder;
  } catch (error) {
    await folder.close();
    throw error;
  }
}

/** Opens a subfolder name by name. Creates missing folders if `make` is set. */
export async function openSubfolder(
  root: string,
  names: readonly string[],
  options: FolderOptions & {
    readonly make?: boolean;
    /** Whether entries are named relative to `root`; otherwise by absolute path. */
    readonly isNamed?: boolean;
  },
): Promise<Folder> {
  let folder = await openFolder(root, options);
  for (const name of names) {
    const outer = folder;
    try {
      folder = await enterOrCreate(outer, name, options.make === true);
    } finally {
      await outer.close();
    }
  }
  return folder;
}

async function enterOrCreate(folder: Folder, name: string, create: boolean): Promise<Folder> {
  try {
    return await folder.enter(name);
  } catch (error) {
    if (!create || readErrorCode(error) !== "ENOENT") throw error;
    await folder.make(name);
    return folder.enter(name);
  }
}

interface FolderPath {
  readonly path: string;
  readonly hostPath: string;
}

async function createFolder(
  handle: FileHandle,
  folderPath: FolderPath,
  options: Required<FolderOptions>,
): Promise<Folder> {
  const { path, hostPath } = folderPath;
  const isByPath = options.anchor === "path";
  const base = isByPath ? hostPath : `/proc/self/fd/${handle.fd}`;
  const resolveName = (name: string): string => `${base}/${name}`;
  const check = (): Promise<void> =>
    (isByPath ? checkByPath : checkByDescriptor)(handle, folderPath);
  const confirm = (): Promise<void> | undefined => (isByPath ? check() : undefined);
  try {
    if (options.places.holds(await handle.stat({ bigint: true }))) {
      throw createRefusal("protected", `${path} is reserved for Spanline`);
    }
    await confirm();
  } catch (error) {
    await handle.close();
    throw error;
  }
  return {
    path,
    hostPath,
    resolve: resolveName,
    self: base,
    async enter(name) {
      checkName(path, name);
      const inner = { path: join(path, name), hostPath: join(hostPath, name) };
      return createFolder(await openHandle(resolveName(name), inner), inner, options);
    },
    async entries(limit) {
      const entries = await listEntries(resolveName("."), limit);
      await confirm();
      return entries;
    },
    async make(name) {
      checkName(path, name);
      try {
        await mkdir(resolveName(name));
      } catch (error) {
        // Another process created the entry first; the next access checks its type.
        if (readErrorCode(error) !== "EEXIST") throw error;
      }
    },
    confirm,
    check,
    sync: () => handle.sync(),
    close: () => handle.close(),
  };
}

/** Refuses reserved names, which a walk reaches without a path check. */
export function checkName(path: string, name: string): void {
  if (!isReservedName(name)) return;
  throw createRefusal("protected", `${join(path, name)} is reserved for Spanline`);
}

async function openHandle(target: string, { path }: FolderPath): Promise<FileHandle> {
  try {
    return await open(target, constants.O_RDONLY | constants.O_DIRECTORY | NO_LINKS);
  } catch (error) {
    // Linux reports ENOTDIR for a link.
    if (!["ELOOP", "ENOTDIR"].includes(readErrorCode(error))) throw error;
    throw createRefusal(
      "not_a_folder",
      `${path} is not a folder, or was replaced by a link`,
      error,
    );
  }
}

async function listEntries(path: string, limit: number): Promise<Dirent[]> {
  const entries: Dirent[] = [];
  // Leaving the loop closes the directory.
  for await (const entry of await opendir(path, { bufferSize: 256 })) {
    if (entries.length >= limit) break;
    entries.push(entry);
  }
  return entries;
}

/** Compares the kernel's current path of the open folder with the expected path. */
async function checkByDescriptor(handle: FileHandle, folderPath: FolderPath): Promise<void> {
  const path = await readlink(`/proc/self/fd/${handle.fd}`);
  if (path !== folderPath.hostPath) throw createMovedError(folderPath);
}

/** Compares the identity of the folder at the path with the open folder. */
async function checkByPath(handle: FileHandle, folderPath: FolderPath): Promise<void> {
  const [real, there, openedStats] = await Promise.all([
    realpath(folderPath.hostPath),
    lstat(folderPath.hostPath, { bigint: true }),
    handle.stat({ bigint: true }),
  ]);
  if (real !== folderPath.hostPath || toIdentity(there) !== toIdentity(openedStats))
    throw createMovedError(folderPath);
}

function createMovedError({ path }: FolderPath): Error {
  return createRefusal("moved", `${path} was moved or replaced in the meantime`);
}

/** The macOS flag `O_NOFOLLOW_ANY` refuses links anywhere in a path. Node has no constant for it. */
export const NO_LINKS = process.platform === "darwin" ? 0x20000000 : constants.O_NOFOLLOW;

/** Linux can resolve names from an open folder if `/proc` is mounted. */
function selectAnchor(): Anchor {
  const canDescribe = process.platform === "linux" && existsSync("/proc/self/fd");
  return canDescribe ? "descriptor" : "path";
}
