import { readFileSync, realpathSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { digestText } from "../digest.ts";
import { randomToken } from "../random.ts";
import { saveFileOnce } from "./private-files.ts";

/**
 * True if this user has trusted a data directory. A trusted directory contains an id, and the user's own directory has
 * the same id for exactly this path. A directory from elsewhere has no known id, whatever it contains.
 */
export function isTrustedDirectory(directory: string, userDirectory: string): boolean {
  try {
    const path = realpathSync(directory);
    if (path === realpathSync(userDirectory)) return true;
    const id = readId(join(path, ID_FILE));
    return id !== undefined && id === readId(resolveRecordPath(path, userDirectory));
  } catch {
    // A directory that does not exist or cannot be read is not trusted.
    return false;
  }
}

/** Trusts an existing directory from now on. Call only if the user has named the directory. */
export async function trustDirectory(directory: string, userDirectory: string): Promise<void> {
  const path = realpathSync(directory);
  const record = resolveRecordPath(path, userDirectory);
  // If several processes trust the directory at once, all use the id of the first.
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

/**
 * Undefined for a file not written by `trustDirectory`. Such a file may be huge or endless (a device), so it is not
 * read.
 */
function readId(file: string): string | undefined {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats?.isFile() !== true || stats.size > MAX_BYTES) return undefined;
  const id = readFileSync(file, "utf8").trim();
  return /^\w{32,}$/.test(id) ? id : undefined;
}

const MAX_BYTES = 100;
