import type { BigIntStats } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { toIdentity, readStats, type Identity } from "../files/file-identity.ts";
import { followPath } from "./follow-path.ts";

/** What tools may never touch: the data directory, the configuration, the user's state. */
export interface ProtectedPaths {
  /** Their real paths. */
  readonly paths: readonly string[];
  /** Whether it is one of them, or in one, under whatever name: a hard link, a bind mount, other letters. */
  holds(facts: Pick<BigIntStats, "dev" | "ino" | "nlink" | "mode">): boolean;
  /** Whether a path leads to one of them, or into one. */
  covers(hostPath: string): Promise<boolean>;
}

export async function createProtectedPaths(folders: readonly string[]): Promise<ProtectedPaths> {
  const paths: string[] = [];
  const missing: string[] = [];
  const scan: ProtectedScan = { identities: new Set(), isComplete: true };
  for (const folder of folders) {
    const followed = await followPath(resolve(folder));
    const path = followed.problem === undefined ? followed.hostPath : resolve(folder);
    paths.push(path);
    const facts = await readStats(path);
    if (facts === undefined) missing.push(foldCase(path));
    else await scanIdentities(path, facts, scan);
  }
  const holds: ProtectedPaths["holds"] = (facts) =>
    scan.identities.has(toIdentity(facts)) ||
    // Among more files than are looked at, one with several names may be any of them.
    (!scan.isComplete && facts.nlink > 1n && !isFolder(facts));
  return {
    paths,
    holds,
    async covers(hostPath) {
      if (paths.some((path) => isWithin(hostPath, path))) return true;
      if (missing.some((path) => isWithin(foldCase(hostPath), path))) return true;
      for (let path = hostPath; ; path = dirname(path)) {
        const facts = await readStats(path);
        if (facts !== undefined && holds(facts)) return true;
        if (path === dirname(path)) return false;
      }
    },
  };
}

export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === "/" ? "/" : `${folder}/`);
}

interface ProtectedScan {
  readonly identities: Set<Identity>;
  isComplete: boolean;
}

/** Everything in a folder by its identity, since each file of it may have another name elsewhere. */
async function scanIdentities(
  path: string,
  facts: BigIntStats,
  scan: ProtectedScan,
): Promise<void> {
  scan.identities.add(toIdentity(facts));
  if (!isFolder(facts)) return;
  const names = await readdir(path).catch(() => undefined);
  if (names === undefined) scan.isComplete = false;
  for (const name of names ?? []) {
    if (scan.identities.size >= MAX_IDENTITIES) {
      scan.isComplete = false;
      return;
    }
    const inner = join(path, name);
    const stats = await readStats(inner);
    // What is looked at while it goes away is gone.
    if (stats !== undefined) await scanIdentities(inner, stats, scan);
  }
}

/** Each is a look at the disk, for every call. A data directory has a dozen files. */
const MAX_IDENTITIES = 2000;

function isFolder({ mode }: Pick<BigIntStats, "mode">): boolean {
  return (mode & 0o170000n) === 0o040000n;
}

/** The same for names that a file system may take for one. */
function foldCase(path: string): string {
  return path.normalize("NFKC").toLowerCase();
}
