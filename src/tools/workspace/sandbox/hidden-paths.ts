import { join } from "node:path";
import { readStats } from "../files/file-identity.ts";
import { followPath } from "../paths/follow-path.ts";
import { isWithin } from "../paths/protected-paths.ts";
import type { HiddenPath } from "./bubblewrap-arguments.ts";

/** Paths which a confined program must not read: protected paths, and the usual credential files of the user. */
export async function findHiddenPaths(
  roots: readonly string[],
  protectedPaths: readonly string[],
  home: string | undefined,
): Promise<HiddenPath[]> {
  const keys = home === undefined ? [] : CREDENTIAL_PATHS.map((name) => join(home, name));
  const places = new Map<string, HiddenPath>();
  for (const path of [...protectedPaths, ...keys]) {
    const place = await readHiddenPath(path);
    // A folder which contains the workspace cannot be hidden from a program in the workspace.
    if (place === undefined || roots.some((root) => isWithin(root, place.path))) continue;
    places.set(place.path, place);
  }
  return [...places.values()];
}

/** Undefined if the path does not exist: hiding it would require creating it. */
async function readHiddenPath(path: string): Promise<HiddenPath | undefined> {
  const followed = await followPath(path);
  if (followed.problem !== undefined || followed.remaining.length > 0) return undefined;
  const facts = await readStats(followed.hostPath);
  if (facts === undefined) return undefined;
  return { path: followed.hostPath, type: facts.isDirectory() ? "folder" : "file" };
}

const CREDENTIAL_PATHS = [
  ".aws",
  ".azure",
  ".config/gcloud",
  ".config/gh",
  ".docker",
  ".git-credentials",
  ".gnupg",
  ".kube",
  ".netrc",
  ".npmrc",
  ".pypirc",
  ".ssh",
];
