import { dirname, isAbsolute, join, resolve } from "node:path";
import { createUnresolvedPath, type PathFact } from "../../../domain/policy/policy-decision.ts";
import { readStats, toIdentity, type Identity } from "../files/file-identity.ts";
import { followPath } from "./follow-path.ts";
import { isWithin, createProtectedPaths, type ProtectedPaths } from "./protected-paths.ts";
import { isReservedName, PROJECT_FOLDER } from "./reserved-names.ts";
import { readdir } from "node:fs/promises";

export interface PathInput {
  /** Position in the arguments, such as `path` or `paths[1]`. */
  readonly argument: string;
  readonly input: string;
}

export interface WorkspacePaths {
  /** The workspace folder, the base of relative paths. */
  readonly root: string;
  /** Additional workspace folders. */
  readonly folders?: readonly string[];
  /** Folders and files which no tool may touch. They need not exist yet. */
  readonly protectedFolders: readonly string[];
}

/** Resolves paths on the disk. Every path is checked again when it is opened, since the disk may change in between. */
export async function examinePaths(
  inputs: readonly PathInput[],
  workspacePaths: WorkspacePaths,
): Promise<PathFact[]> {
  const resolvedWorkspace = await resolveWorkspace(workspacePaths);
  const facts: PathFact[] = [];
  for (const input of inputs) facts.push(await examinePath(input, resolvedWorkspace));
  return facts;
}

/** A workspace as found on the disk. */
export interface ResolvedWorkspace {
  /** The real path. Null if the folder does not exist. */
  readonly root: string | null;
  /** Real paths of the existing additional folders. */
  readonly folders: readonly string[];
  readonly places: ProtectedPaths;
}

/** Resolves the workspace folders. A `.spanline` folder in any of their parents is protected too. */
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

/** Null if the folder does not exist. */
async function realFolder(folder: string): Promise<string | null> {
  const followed = await followPath(resolve(folder));
  if (followed.problem !== undefined) return null;
  const facts = await readStats(followed.hostPath);
  return facts?.isDirectory() === true ? followed.hostPath : null;
}

/** A folder and all its parents. */
function listAncestors(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...listAncestors(above)];
}

/** Resolves a path and classifies its location: inside, outside, protected or invalid. */
export async function examinePath(
  pathInput: PathInput,
  resolvedWorkspace: ResolvedWorkspace,
): Promise<PathFact> {
  const { input } = pathInput;
  const { root, places } = resolvedWorkspace;
  const problem =
    findPathProblem(input) ?? (root === null ? "the workspace does not exist" : undefined);
  if (problem !== undefined || root === null) return createInvalidFact(pathInput, problem);
  const followed = await followPath(isAbsolute(input) ? input : `${root}/${input}`);
  if (followed.problem !== undefined) return createInvalidFact(pathInput, followed.problem);
  const base = [root, ...resolvedWorkspace.folders].find((folder) =>
    isWithin(followed.hostPath, folder),
  );
  const hostPath =
    base === undefined ? followed.hostPath : await resolveTrueName(followed.hostPath, base);
  if (hostPath.split("/").some(isReservedName) || (await places.covers(hostPath))) {
    const reason = "it leads to files reserved for Spanline";
    return { ...pathInput, location: "protected", workspacePath: null, hostPath, reason };
  }
  if (base === undefined) {
    const reason = "it leads outside the workspace";
    return { ...pathInput, location: "outside", workspacePath: null, hostPath, reason };
  }
  const workspacePath = toWorkspacePath(hostPath, base);
  const folderField = base === root ? {} : { folder: base };
  return { ...pathInput, location: "inside", workspacePath, hostPath, ...folderField };
}

/** Keeps the spelling of the names on the disk: `allow` rules are compared with the file to be opened. */
export function toWorkspacePath(hostPath: string, root: string): string {
  const below = hostPath.slice(root === "/" ? 1 : root.length + 1);
  return below === "" ? "." : below;
}

function createInvalidFact(pathInput: PathInput, reason = "it is not a path"): PathFact {
  return createUnresolvedPath(pathInput, reason);
}

/** Why a string is not a usable path, before any disk access. Undefined if it is. */
function findPathProblem(input: string): string | undefined {
  if (input === "") return "it is empty";
  if (input.includes("\0")) return "it has a NUL character";
  if (CONTROL.test(input)) return "it has control characters";
  if (!input.isWellFormed()) return "it is not valid Unicode";
  if (input.includes("\\")) return "it has a backslash; folders are separated with /";
  if (/^[a-z]:/i.test(input)) return "it starts with a drive letter, which is not supported";
  if (Buffer.byteLength(input) > MAX_PATH_BYTES) return "it is too long";
  return undefined;
}

/** Includes bidirectional marks, which would show an approver another name than the real one. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;

/** Linux allows 4096 bytes including the terminating byte. */
const MAX_PATH_BYTES = 4095;

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
