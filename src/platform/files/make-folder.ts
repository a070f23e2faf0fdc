import { mkdir, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";

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
