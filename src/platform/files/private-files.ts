import { chmodSync, closeSync, openSync, statSync } from "node:fs";
import { chmod, link, open, readFile, rename, rm, writeFile, mkdir, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { randomString } from "../random.ts";

/**
 * Replaces a file atomically: a process killed at any moment leaves the complete old text or the complete new text.
 * Only the owner may read the file. Concurrent calls for the same path are not allowed.
 */
export async function saveFile(path: string, text: string): Promise<void> {
  await makeFolder(dirname(path));
  await withPath(path, () => replaceFile(path, text));
}

async function replaceFile(path: string, text: string): Promise<void> {
  const draft = `${path}.tmp`;
  const file = await open(draft, "w", 0o600);
  try {
    // An old temporary file keeps its permissions when it is opened again.
    await chmod(draft, 0o600);
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
}

/**
 * Creates a file atomically unless it exists. If several processes create the file at once, the text of the first wins.
 */
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

/** Adds the path to errors of `write` and `fsync` (for example a full disk), which do not name their file. */
async function withPath(path: string, save: () => Promise<void>): Promise<void> {
  try {
    await save();
  } catch (error) {
    throw error instanceof Error && !("path" in error) ? Object.assign(error, { path }) : error;
  }
}

/** Undefined if the file does not exist. */
export async function readSavedFile(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

/**
 * Creates a folder that only its user can enter, with all missing parents. Rejects with the error of the system.
 *
 * Each level is created separately: Node's recursive `mkdir` never returns inside folders that refuse new entries with
 * ENOENT, such as those of `/proc`.
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
    // EEXIST: another process has created the folder, or the path is a dangling link.
    if (readErrorCode(error) !== "EEXIST" || !(await isFolder(folder))) throw error;
  }
}

/** False if the path does not exist. Throws ENOTDIR if the path is a file. */
async function isFolder(path: string): Promise<boolean> {
  try {
    if ((await stat(path)).isDirectory()) return true;
  } catch (error) {
    if (readErrorCode(error) === "ENOENT") return false;
    throw error;
  }
  throw Object.assign(new Error(`${path} is not a folder`), { code: "ENOTDIR" });
}

function readErrorCode(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

/**
 * Creates a file that only its user can read, and removes the permissions of others from an existing file.
 *
 * An existing file is not opened: on POSIX, closing it would drop all locks of this process on the file. A new file
 * cannot be locked yet, because there is no `await` between its creation and its closing.
 */
export function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    restrictToOwner(path);
  }
}

/** Removes the permissions of others from a file, if the file exists. */
export function restrictToOwner(path: string): void {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  if ((mode & 0o077) === 0) return;
  try {
    chmodSync(path, mode & 0o700);
  } catch {
    // The file belongs to another user, who decides its permissions.
  }
}
