import { dirname, isAbsolute, join, resolve } from "node:path";
import { leadsNowhere, type PathFact } from "../../../domain/policy-decision.ts";
import { lookAt } from "../files/identity.ts";
import { followedPath } from "./followed-path.ts";
import { isOwnName, PROJECT_FOLDER } from "./own-name.ts";
import { pathProblem } from "./path-problem.ts";
import { isWithin, protectedPlaces, type ProtectedPlaces } from "./protected-places.ts";
import { trueName } from "./true-name.ts";

export interface PathInput {
  /** Where it stands in the arguments, such as `path` or `paths[1]`. */
  readonly argument: string;
  readonly input: string;
}

export interface Surroundings {
  /** The workspace; relative paths begin there. */
  readonly root: string;
  /** Other folders that belong to it. */
  readonly folders?: readonly string[];
  /** Folders and files that no tool may touch, whether they are there yet or not. */
  readonly protectedFolders: readonly string[];
}

/** Looks on the disk where paths lead. What is opened later is checked again, since all of it may change meanwhile. */
export async function examinePaths(
  inputs: readonly PathInput[],
  surroundings: Surroundings,
): Promise<PathFact[]> {
  const ground = await groundOf(surroundings);
  const facts: PathFact[] = [];
  for (const input of inputs) facts.push(await examinePath(input, ground));
  return facts;
}

/** A workspace as it is on the disk. */
export interface Ground {
  /** Its real path; null where there is no such folder. */
  readonly root: string | null;
  /** The real paths of the others that are there. */
  readonly folders: readonly string[];
  readonly places: ProtectedPlaces;
}

export async function groundOf(surroundings: Surroundings): Promise<Ground> {
  const { root, folders = [], protectedFolders } = surroundings;
  const [real = null, ...others] = await Promise.all([root, ...folders].map(realFolder));
  const there = others.flatMap((folder) => (folder === null || folder === "/" ? [] : [folder]));
  const own = [real ?? resolve(root), ...there]
    .flatMap(foldersAbove)
    .map((folder) => join(folder, PROJECT_FOLDER));
  const places = await protectedPlaces([...new Set([...protectedFolders, ...own])]);
  return { root: real, folders: there, places };
}

/** Null where there is no such folder. */
async function realFolder(folder: string): Promise<string | null> {
  const followed = await followedPath(resolve(folder));
  if (followed.problem !== undefined) return null;
  const facts = await lookAt(followed.hostPath);
  return facts?.isDirectory() === true ? followed.hostPath : null;
}

/** A folder and all that it is in. */
function foldersAbove(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...foldersAbove(above)];
}

export async function examinePath(given: PathInput, ground: Ground): Promise<PathFact> {
  const { input } = given;
  const { root, places } = ground;
  const wrong = pathProblem(input) ?? (root === null ? "the workspace is not there" : undefined);
  if (wrong !== undefined || root === null) return invalid(given, wrong);
  const followed = await followedPath(isAbsolute(input) ? input : `${root}/${input}`);
  if (followed.problem !== undefined) return invalid(given, followed.problem);
  const base = [root, ...ground.folders].find((folder) => isWithin(followed.hostPath, folder));
  const hostPath = base === undefined ? followed.hostPath : await trueName(followed.hostPath, base);
  if (hostPath.split("/").some(isOwnName) || (await places.covers(hostPath))) {
    const reason = "it leads to what Spanline keeps for itself";
    return { ...given, place: "protected", workspacePath: null, hostPath, reason };
  }
  if (base === undefined) {
    const reason = "it leads out of the workspace";
    return { ...given, place: "outside", workspacePath: null, hostPath, reason };
  }
  const workspacePath = workspacePathOf(hostPath, base);
  const other = base === root ? {} : { folder: base };
  return { ...given, place: "inside", workspacePath, hostPath, ...other };
}

/** Keeps the bytes of the names on the disk: a rule that allows is compared with what is opened. */
export function workspacePathOf(hostPath: string, root: string): string {
  const below = hostPath.slice(root === "/" ? 1 : root.length + 1);
  return below === "" ? "." : below;
}

function invalid(given: PathInput, reason = "it is no path"): PathFact {
  return leadsNowhere(given, reason);
}
