import { constants, existsSync, type Dirent } from "node:fs";
import { lstat, mkdir, open, opendir, readlink, realpath, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { isReservedName } from "../paths/reserved-names.ts";
import type { ProtectedPaths } from "../paths/protected-paths.ts";
import { createRefusal } from "../tool-refusal.ts";
import { toIdentity } from "./file-identity.ts";
import { readErrorCode } from "./system-error.ts";

/** A folder that is held open, so that nothing put in its place on the way can lead elsewhere. */
export interface Folder {
  /** From the workspace, for messages. */
  readonly path: string;
  readonly hostPath: string;
  /** A path to something in this very folder. Only the last name of it is looked up. */
  resolve(name: string): string;
  /** The folder itself, for a program that is started in it: what a child does before it is that program, it does here. */
  readonly self: string;
  /** Opens the folder that has a name here; refuses links. */
  enter(name: string): Promise<Folder>;
  make(name: string): Promise<void>;
  /** What is in it, in no order, and no more than the limit. */
  entries(limit: number): Promise<Dirent[]>;
  /** Throws when what was opened through it may be something else: never where names are bound to a descriptor. */
  confirm(): Promise<void> | undefined;
  /** Throws when it is no longer where it was. */
  check(): Promise<void>;
  /** Makes sure that the names in it are on the disk. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

export interface FolderOptions {
  readonly places: ProtectedPaths;
  /** How names are bound to the folder that is open; by its descriptor where the system can do that. */
  readonly anchor?: Anchor;
}

/**
 * - `descriptor`: names are looked up from the open folder itself.
 * - `path`: names are looked up by path, without following links, and it is checked afterwards that the path leads to
 *   what was opened.
 */
export type Anchor = "descriptor" | "path";

/** Opens a folder by its real path. That of a workspace comes from the configuration, and nothing above it is doubted. */
async function openFolder(
  hostPath: string,
  options: FolderOptions & { readonly isNamed?: boolean },
): Promise<Folder> {
  const { isNamed = true } = options;
  const folderPath = { path: isNamed ? "." : hostPath, hostPath };
  const handle = await openHandle(hostPath, folderPath);
  return createFolder(handle, folderPath, { anchor: selectAnchor(), ...options });
}

/** Opens a folder that is not in the workspace. What leads to it is no link now, and nobody can change that later. */
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

/** Opens a folder below another by its names, one after the other, and makes those that are missing if it is to. */
export async function openSubfolder(
  root: string,
  names: readonly string[],
  options: FolderOptions & {
    readonly make?: boolean;
    /** Whether what is in it is named from there; else by whole paths. */
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
      throw createRefusal("protected", `${path} is what Spanline keeps for itself`);
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
        // Somebody else was faster; what it is, the next look will tell.
        if (readErrorCode(error) !== "EEXIST") throw error;
      }
    },
    confirm,
    check,
    sync: () => handle.sync(),
    close: () => handle.close(),
  };
}

/** Refuses Spanline's own names, which a walk meets unexamined. */
export function checkName(path: string, name: string): void {
  if (!isReservedName(name)) return;
  throw createRefusal("protected", `${join(path, name)} is what Spanline keeps for itself`);
}

async function openHandle(target: string, { path }: FolderPath): Promise<FileHandle> {
  try {
    return await open(target, constants.O_RDONLY | constants.O_DIRECTORY | NO_LINKS);
  } catch (error) {
    // Linux says of a link that it is no folder.
    if (!["ELOOP", "ENOTDIR"].includes(readErrorCode(error))) throw error;
    throw createRefusal("not_a_folder", `${path} is no folder, or was replaced by a link`, error);
  }
}

async function listEntries(path: string, limit: number): Promise<Dirent[]> {
  const entries: Dirent[] = [];
  // Leaving the loop closes it.
  for await (const entry of await opendir(path, { bufferSize: 256 })) {
    if (entries.length >= limit) break;
    entries.push(entry);
  }
  return entries;
}

async function checkByDescriptor(handle: FileHandle, folderPath: FolderPath): Promise<void> {
  const path = await readlink(`/proc/self/fd/${handle.fd}`);
  if (path !== folderPath.hostPath) throw createMovedError(folderPath);
}

async function checkByPath(handle: FileHandle, folderPath: FolderPath): Promise<void> {
  const [real, there, held] = await Promise.all([
    realpath(folderPath.hostPath),
    lstat(folderPath.hostPath, { bigint: true }),
    handle.stat({ bigint: true }),
  ]);
  if (real !== folderPath.hostPath || toIdentity(there) !== toIdentity(held))
    throw createMovedError(folderPath);
}

function createMovedError({ path }: FolderPath): Error {
  return createRefusal("moved", `${path} was moved away or replaced meanwhile`);
}

/** On macOS there is a flag that refuses links anywhere in a path (`O_NOFOLLOW_ANY`), which Node has no name for. */
export const NO_LINKS = process.platform === "darwin" ? 0x20000000 : constants.O_NOFOLLOW;

/** Linux looks names up from an open folder where `/proc` is mounted. */
function selectAnchor(): Anchor {
  const canDescribe = process.platform === "linux" && existsSync("/proc/self/fd");
  return canDescribe ? "descriptor" : "path";
}
