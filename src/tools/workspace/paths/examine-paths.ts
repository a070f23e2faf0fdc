import { dirname, isAbsolute, join, resolve } from "node:path";
import { createUnresolvedPath, type PathFact } from "../../../domain/policy/policy-decision.ts";
import { readStats } from "../files/file-identity.ts";
import { followPath } from "./follow-path.ts";
import { isWithin, createProtectedPaths, type ProtectedPaths } from "./protected-paths.ts";
import { isReservedName, PROJECT_FOLDER } from "./reserved-names.ts";
import { resolveTrueName } from "./true-name.ts";

export interface PathInput {
  /** Where it stands in the arguments, such as `path` or `paths[1]`. */
  readonly argument: string;
  readonly input: string;
}

export interface WorkspacePaths {
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
  workspacePaths: WorkspacePaths,
): Promise<PathFact[]> {
  const resolvedWorkspace = await resolveWorkspace(workspacePaths);
  const facts: PathFact[] = [];
  for (const input of inputs) facts.push(await examinePath(input, resolvedWorkspace));
  return facts;
}

/** A workspace as it is on the disk. */
export interface ResolvedWorkspace {
  /** Its real path; null where there is no such folder. */
  readonly root: string | null;
  /** The real paths of the others that are there. */
  readonly folders: readonly string[];
  readonly places: ProtectedPaths;
}

export async function resolveWorkspace(workspacePaths: WorkspacePaths): Promise<ResolvedWorkspace> {
  const { root, folders = [], protectedFolders } = workspacePaths;
  const [real = null, ...others] = await Promise.all([root, ...folders].map(realFolder));
  const existingFolders = others.flatMap((folder) =>
    folder === null || folder === "/" ? [] : [folder],
  );
  const projectFolders = [real ?? resolve(root), ...existingFolders]
    .flatMap(listAncestors)
    .map((folder) => join(folder, PROJECT_FOLDER));
  const places = await createProtectedPaths([...new Set([...protectedFolders, ...projectFolders])]);
  return { root: real, folders: existingFolders, places };
}

/** Null where there is no such folder. */
async function realFolder(folder: string): Promise<string | null> {
  const followed = await followPath(resolve(folder));
  if (followed.problem !== undefined) return null;
  const facts = await readStats(followed.hostPath);
  return facts?.isDirectory() === true ? followed.hostPath : null;
}

/** A folder and all that it is in. */
function listAncestors(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...listAncestors(above)];
}

export async function examinePath(
  pathInput: PathInput,
  resolvedWorkspace: ResolvedWorkspace,
): Promise<PathFact> {
  const { input } = pathInput;
  const { root, places } = resolvedWorkspace;
  const problem =
    findPathProblem(input) ?? (root === null ? "the workspace is not there" : undefined);
  if (problem !== undefined || root === null) return createInvalidFact(pathInput, problem);
  const followed = await followPath(isAbsolute(input) ? input : `${root}/${input}`);
  if (followed.problem !== undefined) return createInvalidFact(pathInput, followed.problem);
  const base = [root, ...resolvedWorkspace.folders].find((folder) =>
    isWithin(followed.hostPath, folder),
  );
  const hostPath =
    base === undefined ? followed.hostPath : await resolveTrueName(followed.hostPath, base);
  if (hostPath.split("/").some(isReservedName) || (await places.covers(hostPath))) {
    const reason = "it leads to what Spanline keeps for itself";
    return { ...pathInput, location: "protected", workspacePath: null, hostPath, reason };
  }
  if (base === undefined) {
    const reason = "it leads out of the workspace";
    return { ...pathInput, location: "outside", workspacePath: null, hostPath, reason };
  }
  const workspacePath = toWorkspacePath(hostPath, base);
  const folderField = base === root ? {} : { folder: base };
  return { ...pathInput, location: "inside", workspacePath, hostPath, ...folderField };
}

/** Keeps the bytes of the names on the disk: a rule that allows is compared with what is opened. */
export function toWorkspacePath(hostPath: string, root: string): string {
  const below = hostPath.slice(root === "/" ? 1 : root.length + 1);
  return below === "" ? "." : below;
}

function createInvalidFact(pathInput: PathInput, reason = "it is no path"): PathFact {
  return createUnresolvedPath(pathInput, reason);
}

/** What is wrong with a text as a path, before anything is looked up; undefined when nothing is. */
function findPathProblem(input: string): string | undefined {
  if (input === "") return "it is empty";
  if (input.includes("\0")) return "it has a NUL character";
  if (CONTROL.test(input)) return "it has control characters";
  if (!input.isWellFormed()) return "it is no Unicode text";
  if (input.includes("\\")) return "it has a backslash; folders are separated with /";
  if (/^[a-z]:/i.test(input)) return "it begins with a drive letter; there are none here";
  if (Buffer.byteLength(input) > MAX_PATH_BYTES) return "it is too long";
  return undefined;
}

/** Also those that turn the direction of a text around: a person who is asked sees another name than the one meant. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;

/** Linux takes this much with the byte that ends it. */
const MAX_PATH_BYTES = 4095;
