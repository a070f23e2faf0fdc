import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { identityOf, lookAt, type Identity } from "../files/identity.ts";

/** What is asked of a file system. */
export interface Names {
  identity(path: string): Promise<Identity | undefined>;
  list(folder: string): Promise<readonly string[]>;
}

/**
 * A path below a folder as its names are on the disk. Where a file system takes `SRC` for `src`, a rule about `src` would
 * otherwise not see the other.
 */
export async function trueName(path: string, folder: string, names = systemNames): Promise<string> {
  if (path === folder || path === dirname(path)) return path;
  const parent = await trueName(dirname(path), folder, names);
  const name = path.slice(path.lastIndexOf("/") + 1);
  const given = join(parent, name);
  const identity = await names.identity(given);
  const turned = turnedAround(name);
  if (identity === undefined || turned === name) return given;
  if ((await names.identity(join(parent, turned))) !== identity) return given;
  const listed = await names.list(parent);
  if (listed.includes(name)) return given;
  for (const other of listed) {
    if ((await names.identity(join(parent, other))) === identity) return join(parent, other);
  }
  return given;
}

const systemNames: Names = {
  async identity(path) {
    const facts = await lookAt(path);
    return facts && identityOf(facts);
  },
  list: (folder) => readdir(folder),
};

/** Upper case for lower and the reverse. */
function turnedAround(name: string): string {
  const lower = name.toLowerCase();
  return lower === name ? name.toUpperCase() : lower;
}
