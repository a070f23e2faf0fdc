import { chmod, link, open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { makeFolder } from "./make-folder.ts";
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
