import { constants, existsSync, type Dirent } from "node:fs";
import { lstat, mkdir, open, opendir, readlink, realpath, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { isOwnName } from "../paths/own-name.ts";
import type { ProtectedPlaces } from "../paths/protected-places.ts";
import { refusal } from "../refusal.ts";
import { identityOf } from "./identity.ts";
import { codeOf } from "./system-error.ts";

/** A folder that is held open, so that nothing put in its place on the way can lead elsewhere. */
export interface Folder {
  /** From the workspace, for messages. */
  readonly path: string;
  readonly hostPath: string;
  /** A path to something in this very folder. Only the last name of it is looked up. */
  at(name: string): string;
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
  readonly places: ProtectedPlaces;
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
  const place = { path: isNamed ? "." : hostPath, hostPath };
  const handle = await openedFolder(hostPath, place);
  return heldFolder(handle, place, { anchor: systemAnchor(), ...options });
}

/** Opens a folder that is not in the workspace. What leads to it is no link now, and nobody can change that later. */
export async function openOutside(hostPath: string, options: FolderOptions): Promise<Folder> {
  const place = { path: hostPath, hostPath };
  const handle = await openedFolder(hostPath, place);
  const folder = await heldFolder(handle, place, { anchor: systemAnchor(), ...options });
  try {
    await folder.check();
    return folder;
  } catch (error) {
    await folder.close();
    throw error;
  }
}

/** Opens a folder below another by its names, one after the other, and makes those that are missing if it is to. */
export async function openBelow(
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
      folder = await entered(outer, name, options.make === true);
    } finally {
      await outer.close();
    }
  }
  return folder;
}

async function entered(folder: Folder, name: string, make: boolean): Promise<Folder> {
  try {
    return await folder.enter(name);
  } catch (error) {
    if (!make || codeOf(error) !== "ENOENT") throw error;
    await folder.make(name);
    return folder.enter(name);
  }
}

interface Place {
  readonly path: string;
  readonly hostPath: string;
}

async function heldFolder(
  handle: FileHandle,
  place: Place,
  options: Required<FolderOptions>,
): Promise<Folder> {
  const { path, hostPath } = place;
  const isByPath = options.anchor === "path";
  const base = isByPath ? hostPath : `/proc/self/fd/${handle.fd}`;
  const at = (name: string): string => `${base}/${name}`;
  const check = (): Promise<void> => (isByPath ? checkByPath : checkByDescriptor)(handle, place);
  const confirm = (): Promise<void> | undefined => (isByPath ? check() : undefined);
  try {
    if (options.places.holds(await handle.stat({ bigint: true }))) {
      throw refusal("protected", `${path} is what Spanline keeps for itself`);
    }
    await confirm();
  } catch (error) {
    await handle.close();
    throw error;
  }
  return {
    path,
    hostPath,
    at,
    self: base,
    async enter(name) {
      checkName(path, name);
      const inner = { path: join(path, name), hostPath: join(hostPath, name) };
      return heldFolder(await openedFolder(at(name), inner), inner, options);
    },
    async entries(limit) {
      const entries = await listed(at("."), limit);
      await confirm();
      return entries;
    },
    async make(name) {
      checkName(path, name);
      try {
        await mkdir(at(name));
      } catch (error) {
        // Somebody else was faster; what it is, the next look will tell.
        if (codeOf(error) !== "EEXIST") throw error;
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
  if (!isOwnName(name)) return;
  throw refusal("protected", `${join(path, name)} is what Spanline keeps for itself`);
}

async function openedFolder(by: string, { path }: Place): Promise<FileHandle> {
  try {
    return await open(by, constants.O_RDONLY | constants.O_DIRECTORY | NO_LINKS);
  } catch (error) {
    // Linux says of a link that it is no folder.
    if (!["ELOOP", "ENOTDIR"].includes(codeOf(error))) throw error;
    throw refusal("not_a_folder", `${path} is no folder, or was replaced by a link`, error);
  }
}

async function listed(path: string, limit: number): Promise<Dirent[]> {
  const entries: Dirent[] = [];
  // Leaving the loop closes it.
  for await (const entry of await opendir(path, { bufferSize: 256 })) {
    if (entries.length >= limit) break;
    entries.push(entry);
  }
  return entries;
}

async function checkByDescriptor(handle: FileHandle, place: Place): Promise<void> {
  const path = await readlink(`/proc/self/fd/${handle.fd}`);
  if (path !== place.hostPath) throw movedAway(place);
}

async function checkByPath(handle: FileHandle, place: Place): Promise<void> {
  const [real, there, held] = await Promise.all([
    realpath(place.hostPath),
    lstat(place.hostPath, { bigint: true }),
    handle.stat({ bigint: true }),
  ]);
  if (real !== place.hostPath || identityOf(there) !== identityOf(held)) throw movedAway(place);
}

function movedAway({ path }: Place): Error {
  return refusal("moved", `${path} was moved away or replaced meanwhile`);
}

/** On macOS there is a flag that refuses links anywhere in a path (`O_NOFOLLOW_ANY`), which Node has no name for. */
export const NO_LINKS = process.platform === "darwin" ? 0x20000000 : constants.O_NOFOLLOW;

/** Linux looks names up from an open folder where `/proc` is mounted. */
function systemAnchor(): Anchor {
  const canDescribe = process.platform === "linux" && existsSync("/proc/self/fd");
  return canDescribe ? "descriptor" : "path";
}
