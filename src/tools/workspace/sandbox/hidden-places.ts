import { join } from "node:path";
import { lookAt } from "../files/identity.ts";
import { followedPath } from "../paths/followed-path.ts";
import { isWithin } from "../paths/protected-places.ts";
import type { HiddenPlace } from "./bubblewrap-arguments.ts";

/** What a confined program must not read: what nobody may touch, and where people keep their keys. */
export async function hiddenPlaces(
  roots: readonly string[],
  protectedPaths: readonly string[],
  home: string | undefined,
): Promise<HiddenPlace[]> {
  const keys = home === undefined ? [] : KEYS.map((name) => join(home, name));
  const places = new Map<string, HiddenPlace>();
  for (const path of [...protectedPaths, ...keys]) {
    const place = await placeOf(path);
    // What holds the workspace cannot be hidden from a program that works in it.
    if (place === undefined || roots.some((root) => isWithin(root, place.path))) continue;
    places.set(place.path, place);
  }
  return [...places.values()];
}

/** Undefined where nothing is: something would have to be made there to hide it. */
async function placeOf(path: string): Promise<HiddenPlace | undefined> {
  const followed = await followedPath(path);
  if (followed.problem !== undefined || followed.rest.length > 0) return undefined;
  const facts = await lookAt(followed.hostPath);
  if (facts === undefined) return undefined;
  return { path: followed.hostPath, type: facts.isDirectory() ? "folder" : "file" };
}

const KEYS = [
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
