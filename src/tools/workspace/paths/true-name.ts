import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { toIdentity, readStats, type Identity } from "../files/file-identity.ts";

/** File system access, replaceable in tests. */
export interface NameLookup {
  readIdentity(path: string): Promise<Identity | undefined>;
  listNames(folder: string): Promise<readonly string[]>;
}

/**
 * Respells a path below a folder with the names on the disk. On a case-insensitive file system, a rule for `src` would
 * otherwise miss `SRC`.
 */
export async function resolveTrueName(
  path: string,
  folder: string,
  names = systemNameLookup,
): Promise<string> {
  if (path === folder || path === dirname(path)) return path;
  const parent = await resolveTrueName(dirname(path), folder, names);
  const name = path.slice(path.lastIndexOf("/") + 1);
  const candidate = join(parent, name);
  const identity = await names.readIdentity(candidate);
  const turned = swapCase(name);
  if (identity === undefined || turned === name) return candidate;
  if ((await names.readIdentity(join(parent, turned))) !== identity) return candidate;
  const listed = await names.listNames(parent);
  if (listed.includes(name)) return candidate;
  for (const listedName of listed) {
    if ((await names.readIdentity(join(parent, listedName))) === identity)
      return join(parent, listedName);
  }
  return candidate;
}

const systemNameLookup: NameLookup = {
  async readIdentity(path) {
    const facts = await readStats(path);
    return facts && toIdentity(facts);
  },
  listNames: (folder) => readdir(folder),
};

/** Swaps upper and lower case. */
function swapCase(name: string): string {
  const lower = name.toLowerCase();
  return lower === name ? name.toUpperCase() : lower;
}
