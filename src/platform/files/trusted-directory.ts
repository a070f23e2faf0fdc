import { readFileSync, realpathSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { digestText } from "../digest.ts";
import { randomToken } from "../random.ts";
import { saveFileOnce } from "./private-files.ts";

/**
 * Whether a data directory is this user's: an id lies in it, and the same one in the user's own directory, for this very
 * path. One that came with a project, from wherever, has none that is known here, whatever it was made to look like.
 */
export function isTrustedDirectory(directory: string, userDirectory: string): boolean {
  try {
    const path = realpathSync(directory);
    if (path === realpathSync(userDirectory)) return true;
    const id = readId(join(path, ID_FILE));
    return id !== undefined && id === readId(resolveRecordPath(path, userDirectory));
  } catch {
    // What is not there, or cannot be looked at, is not known.
    return false;
  }
}

/** Makes a directory that is there the user's own from now on: somebody named it. */
export async function trustDirectory(directory: string, userDirectory: string): Promise<void> {
  const path = realpathSync(directory);
  const record = resolveRecordPath(path, userDirectory);
  // Of several that begin at once, the first one's id is everybody's.
  await saveFileOnce(record, `${randomToken()}\n`);
  const id = readId(record);
  const file = join(path, ID_FILE);
  if (readId(file) === id) return;
  await rm(file, { recursive: true, force: true });
  await saveFileOnce(file, `${id}\n`);
}

const ID_FILE = "directory.id";

function resolveRecordPath(path: string, userDirectory: string): string {
  return join(userDirectory, "known-directories", digestText(path).slice(0, 32));
}

/** Undefined for anything that was not made here, which may be of any size, or never end. */
function readId(file: string): string | undefined {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats?.isFile() !== true || stats.size > MAX_BYTES) return undefined;
  const id = readFileSync(file, "utf8").trim();
  return /^\w{32,}$/.test(id) ? id : undefined;
}

const MAX_BYTES = 100;
