import type { BigIntStats } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { toIdentity, readStats, type Identity } from "../files/file-identity.ts";
import { followPath } from "./follow-path.ts";

/** Paths which tools may never touch: the data directory, the configuration, the user's state. */
export interface ProtectedPaths {
  /** The real paths. */
  readonly paths: readonly string[];
  /** Whether a file is protected under any name: hard link, bind mount, or another spelling. */
  holds(facts: Pick<BigIntStats, "dev" | "ino" | "nlink" | "mode">): boolean;
  /** Whether a path leads to or into a protected path. */
  covers(hostPath: string): Promise<boolean>;
}

/** Resolves protected paths and records the identity of each file in them, up to `MAX_IDENTITIES`. */
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
    // If the scan was incomplete, a file with several hard links may be a protected one.
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

/** Records everything in a folder by identity, since each file may have further names elsewhere. */
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
    // An entry deleted during the scan is skipped.
    if (stats !== undefined) await scanIdentities(inner, stats, scan);
  }
}

/** Each identity costs one disk access per tool call. A data directory has about a dozen files. */
const MAX_IDENTITIES = 2000;

function isFolder({ mode }: Pick<BigIntStats, "mode">): boolean {
  return (mode & 0o170000n) === 0o040000n;
}

/** Folds names which a file system may treat as equal. */
function foldCase(path: string): string {
  return path.normalize("NFKC").toLowerCase();
}
