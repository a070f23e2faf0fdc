import { chmodSync, closeSync, openSync, statSync } from "node:fs";
import { chmod, link, open, readFile, rename, rm, writeFile, mkdir, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { randomString } from "../random.ts";

/**
 * Replaces a file as a whole: a process that is killed at any moment leaves the old text or the new one, never a part. Only
 * the owner may read it. Saves to one path must follow one another.
 */
export async function saveFile(path: string, text: string): Promise<void> {
  await makeFolder(dirname(path));
  await withPath(path, () => replaceFile(path, text));
}

async function replaceFile(path: string, text: string): Promise<void> {
  const draft = `${path}.tmp`;
  const file = await open(draft, "w", 0o600);
  try {
    // A draft that was left behind keeps the rights it had.
    await chmod(draft, 0o600);
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
}

/** Makes a file as a whole, unless there is one: of several that begin at once, the first one's text is everybody's. */
export async function saveFileOnce(path: string, text: string): Promise<void> {
  await makeFolder(dirname(path));
  await withPath(path, () => createFile(path, text));
}

async function createFile(path: string, text: string): Promise<void> {
  const draft = `${path}.${randomString(8)}`;
  try {
    await writeFile(draft, text, { mode: 0o600, flag: "wx", flush: true });
    await link(draft, path);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

/** Errors of `write` and `fsync`, as on a full disk, do not name their file: it is added. */
async function withPath(path: string, save: () => Promise<void>): Promise<void> {
  try {
    await save();
  } catch (error) {
    throw error instanceof Error && !("path" in error) ? Object.assign(error, { path }) : error;
  }
}

/** Undefined when there is no such file. */
export async function readSavedFile(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

/**
 * Makes a folder that only its user can enter, and what is missing above it. Rejects with the system's own error.
 *
 * Level by level: Node's recursive `mkdir` never ends where a folder is there and says that nothing can be in it, as
 * those of `/proc` do.
 */
export async function makeFolder(path: string): Promise<void> {
  const missing: string[] = [];
  let folder = resolve(path);
  while (!(await isFolder(folder))) {
    missing.unshift(folder);
    if (folder === dirname(folder)) break;
    folder = dirname(folder);
  }
  for (const level of missing) await makeLevel(level);
}

async function makeLevel(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    // Somebody else was faster, or it is a link to nowhere.
    if (readErrorCode(error) !== "EEXIST" || !(await isFolder(folder))) throw error;
  }
}

/** False when nothing is there; a file in its place is an error. */
async function isFolder(path: string): Promise<boolean> {
  try {
    if ((await stat(path)).isDirectory()) return true;
  } catch (error) {
    if (readErrorCode(error) === "ENOENT") return false;
    throw error;
  }
  throw Object.assign(new Error(`${path} is no folder`), { code: "ENOTDIR" });
}

function readErrorCode(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

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
