import type { PathFact } from "../../domain/policy/policy-decision.ts";
import type { ToolContext } from "../tool.ts";
import { openSubfolder, openOutsideFolder, type Anchor, type Folder } from "./files/folder.ts";
import { readErrorCode } from "./files/system-error.ts";
import type { WorkspaceLimits } from "./workspace-limits.ts";
import { examinePath, resolveWorkspace } from "./paths/examine-paths.ts";
import type { ProtectedPaths } from "./paths/protected-paths.ts";
import { createRefusal } from "./tool-refusal.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/** A workspace as found on the disk at the time of a tool call. */
export interface Workspace {
  /** The real path. */
  readonly root: string;
  /** Real paths of the additional folders. */
  readonly folders: readonly string[];
  readonly places: ProtectedPaths;
  readonly limits: WorkspaceLimits;
  readonly mayRead: (file: FoundFile) => boolean;
  readonly anchor?: Anchor;
}

/** A file found by a tool rather than named in a call. */
export interface FoundFile {
  /** Relative to the workspace. Null if outside. */
  readonly workspacePath: string | null;
  readonly hostPath: string;
}

/** A resolved path, at the location used in the policy evaluation. */
export interface LocatedPath {
  /** Relative to the workspace with `/`; `.` for the workspace itself. Absolute if in another folder or outside. */
  readonly path: string;
  readonly hostPath: string;
  /** The folder from which `names` are resolved. */
  readonly base: string;
  /** The names from `base` to the file, spelled as on the disk; from the root of the machine if outside. */
  readonly names: readonly string[];
  readonly isOutside: boolean;
}

export interface WorkspaceOptions {
  readonly root: string;
  readonly folders?: readonly string[];
  readonly protectedFolders: readonly string[];
  readonly limits: WorkspaceLimits;
  /** Whether the policy allows reading a file not named in a call. Default: every file. */
  readonly mayRead?: (file: FoundFile) => boolean;
  readonly anchor?: Anchor;
}

/** Resolves the workspace for a tool call. Refuses a missing folder, and the root of the machine. */
export async function openWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const { root, folders, places } = await resolveWorkspace(options);
  if (root === null) throw createRefusal("missing", "The workspace does not exist");
  if (root === "/") throw createRefusal("invalid", "The root folder / is not a valid workspace");
  const { limits, anchor, mayRead = () => true } = options;
  return { root, folders, places, limits, mayRead, ...omitUndefined({ anchor }) };
}

/** Resolves a path argument. Refuses a path which no longer leads to its location at the policy evaluation. */
export async function locatePath(
  workspace: Workspace,
  { argument, input }: { readonly argument: string; readonly input: string },
  context?: Pick<ToolContext, "paths">,
): Promise<LocatedPath> {
  const fact = await examinePath({ argument, input }, workspace);
  return requireInside(workspace, fact, context);
}

/**
 * Like `locatePath`, for reading tools: also accepts a path outside the workspace if the policy evaluation covered it.
 */
export async function locateReadablePath(
  workspace: Workspace,
  { argument, input }: { readonly argument: string; readonly input: string },
  context?: Pick<ToolContext, "paths">,
): Promise<LocatedPath> {
  const fact = await examinePath({ argument, input }, workspace);
  const { location, hostPath } = fact;
  const isJudged = context?.paths !== undefined && isAsExamined(fact, context.paths);
  if (location !== "outside" || hostPath === null || !isJudged || SYSTEM_PATH.test(hostPath)) {
    return requireInside(workspace, fact, context);
  }
  const names = hostPath.split("/").filter((name) => name !== "");
  return { path: hostPath, hostPath, base: "/", names, isOutside: true };
}

/** Kernel file systems: their files expose processes and secrets, or have side effects when read. */
const SYSTEM_PATH = /^\/(?:proc|sys|dev)(?:\/|$)/;

function requireInside(
  workspace: Workspace,
  fact: PathFact,
  context: Pick<ToolContext, "paths"> | undefined,
): LocatedPath {
  const { input, location: place, hostPath, workspacePath, folder, reason } = fact;
  if (place !== "inside" || hostPath === null || workspacePath === null) {
    throw createRefusal(
      place === "inside" ? "invalid" : place,
      `${formatPath(input)} cannot be used: ${reason}`,
    );
  }
  if (context?.paths !== undefined && !isAsExamined(fact, context.paths)) {
    throw createRefusal(
      "moved",
      `${formatPath(input)} no longer leads to the location that was allowed`,
    );
  }
  const base = folder ?? workspace.root;
  const below = hostPath.slice(base.length + 1);
  const names = below === "" ? [] : below.split("/");
  const path = folder === undefined ? workspacePath : hostPath;
  return { path, hostPath, base, names, isOutside: false };
}

/** A path absent from the policy evaluation never matches. */
function isAsExamined(fact: PathFact, examined: readonly PathFact[]): boolean {
  const earlier = examined.find(({ argument }) => argument === fact.argument);
  return (
    earlier?.input === fact.input &&
    earlier.location === fact.location &&
    earlier.hostPath === fact.hostPath
  );
}

/** Opens the parent folder and passes it with the file's name to `use`. */
export async function withParentFolder<Value>(
  workspace: Workspace,
  { path, base, names, isOutside }: LocatedPath,
  use: (folder: Folder, name: string) => Promise<Value>,
  { make = false }: { readonly make?: boolean } = {},
): Promise<Value> {
  const name = names.at(-1);
  if (name === undefined)
    throw createRefusal("not_a_file", "The path is the workspace itself: expected a file");
  const folder = await openWorkspaceFolder(workspace, names.slice(0, -1), {
    path,
    base,
    isOutside,
    make,
  });
  try {
    return await use(folder, name);
  } finally {
    await folder.close();
  }
}

interface OpenFolderOptions extends Pick<LocatedPath, "path" | "base" | "isOutside"> {
  readonly make?: boolean;
}

export async function openWorkspaceFolder(
  workspace: Workspace,
  names: readonly string[],
  { path, base, isOutside, make = false }: OpenFolderOptions,
): Promise<Folder> {
  try {
    if (isOutside) return await openOutsideFolder(`/${names.join("/")}`, workspace);
    return await openSubfolder(base, names, {
      ...workspace,
      make,
      isNamed: base === workspace.root,
    });
  } catch (error) {
    const code = readErrorCode(error);
    if (code === "workspace_refused" || code === "") throw error;
    if (code === "ENOENT") throw createRefusal("missing", `${path} does not exist`, error);
    throw createRefusal("failed", `${path} cannot be opened (${code})`, error);
  }
}

/** Formats a path from the model for a message to the model. Cut at 200 characters. */
export function formatPath(path: string): string {
  const short = path.length <= MAX_SHOWN ? path : `${path.slice(0, MAX_SHOWN)}…`;
  return /^[\p{L}\p{N}._/-]+$/u.test(short) ? short : JSON.stringify(short);
}

const MAX_SHOWN = 200;
