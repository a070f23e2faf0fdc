import type { BigIntStats } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { identityOf, lookAt, type Identity } from "../files/identity.ts";
import { followedPath } from "./followed-path.ts";

/** What tools may never touch: the data directory, the configuration, the user's state. */
export interface ProtectedPlaces {
  /** Their real paths. */
  readonly paths: readonly string[];
  /** Whether it is one of them, or in one, under whatever name: a hard link, a bind mount, other letters. */
  holds(facts: Pick<BigIntStats, "dev" | "ino" | "nlink" | "mode">): boolean;
  /** Whether a path leads to one of them, or into one. */
  covers(hostPath: string): Promise<boolean>;
}

export async function protectedPlaces(folders: readonly string[]): Promise<ProtectedPlaces> {
  const paths: string[] = [];
  const missing: string[] = [];
  const seen: Seen = { identities: new Set(), isWhole: true };
  for (const folder of folders) {
    const followed = await followedPath(resolve(folder));
    const path = followed.problem === undefined ? followed.hostPath : resolve(folder);
    paths.push(path);
    const facts = await lookAt(path);
    if (facts === undefined) missing.push(folded(path));
    else await gather(path, facts, seen);
  }
  const holds: ProtectedPlaces["holds"] = (facts) =>
    seen.identities.has(identityOf(facts)) ||
    // Among more files than are looked at, one with several names may be any of them.
    (!seen.isWhole && facts.nlink > 1n && !isFolder(facts));
  return {
    paths,
    holds,
    async covers(hostPath) {
      if (paths.some((path) => isWithin(hostPath, path))) return true;
      if (missing.some((path) => isWithin(folded(hostPath), path))) return true;
      for (let path = hostPath; ; path = dirname(path)) {
        const facts = await lookAt(path);
        if (facts !== undefined && holds(facts)) return true;
        if (path === dirname(path)) return false;
      }
    },
  };
}

export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === "/" ? "/" : `${folder}/`);
}

interface Seen {
  readonly identities: Set<Identity>;
  isWhole: boolean;
}

/** Everything in a folder by its identity, since each file of it may have another name elsewhere. */
async function gather(path: string, facts: BigIntStats, seen: Seen): Promise<void> {
  seen.identities.add(identityOf(facts));
  if (!isFolder(facts)) return;
  const names = await readdir(path).catch(() => undefined);
  if (names === undefined) seen.isWhole = false;
  for (const name of names ?? []) {
    if (seen.identities.size >= MOST_IDENTITIES) {
      seen.isWhole = false;
      return;
    }
    const inner = join(path, name);
    const found = await lookAt(inner);
    // What is looked at while it goes away is gone.
    if (found !== undefined) await gather(inner, found, seen);
  }
}

/** Each is a look at the disk, for every call. A data directory has a dozen files. */
const MOST_IDENTITIES = 2000;

function isFolder({ mode }: Pick<BigIntStats, "mode">): boolean {
  return (mode & 0o170000n) === 0o040000n;
}

/** The same for names that a file system may take for one. */
function folded(path: string): string {
  return path.normalize("NFKC").toLowerCase();
}
