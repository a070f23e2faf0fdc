import type { PathFact } from "../../domain/policy/policy-decision.ts";
import type { ToolContext } from "../tool.ts";
import { openSubfolder, openOutsideFolder, type Anchor, type Folder } from "./files/folder.ts";
import { readErrorCode } from "./files/system-error.ts";
import type { WorkspaceLimits } from "./workspace-limits.ts";
import { examinePath, resolveWorkspace } from "./paths/examine-paths.ts";
import type { ProtectedPaths } from "./paths/protected-paths.ts";
import { createRefusal } from "./tool-refusal.ts";

/** A workspace for one call: as it is on the disk now. */
export interface Workspace {
  /** Its real path. */
  readonly root: string;
  /** Those of the other folders that belong to it. */
  readonly folders: readonly string[];
  readonly places: ProtectedPaths;
  readonly limits: WorkspaceLimits;
  readonly mayRead: (file: FoundFile) => boolean;
  readonly anchor?: Anchor;
}

/** A file that no call names. */
export interface FoundFile {
  /** From the workspace; null outside of it. */
  readonly workspacePath: string | null;
  readonly hostPath: string;
}

/** Something in a workspace, where it was when the call was judged. */
export interface LocatedPath {
  /** From the workspace, with `/`; `.` for itself. Where it is in another folder, or outside, the whole path. */
  readonly path: string;
  readonly hostPath: string;
  /** The folder that it is found from. */
  readonly base: string;
  /** From there name by name, as they are on the disk; from the root of the machine where it is outside. */
  readonly names: readonly string[];
  readonly isOutside: boolean;
}

export interface WorkspaceOptions {
  readonly root: string;
  readonly folders?: readonly string[];
  readonly protectedFolders: readonly string[];
  readonly limits: WorkspaceLimits;
  /** Whether the rules let a file be read that no call names; every one when absent. */
  readonly mayRead?: (file: FoundFile) => boolean;
  readonly anchor?: Anchor;
}

export async function openWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const { root, folders, places } = await resolveWorkspace(options);
  if (root === null) throw createRefusal("missing", "The workspace is not there");
  if (root === "/") throw createRefusal("invalid", "The whole machine is no workspace");
  const { limits, anchor, mayRead = () => true } = options;
  return { root, folders, places, limits, mayRead, ...(anchor !== undefined && { anchor }) };
}

/** Follows an argument that is a path, and refuses one that does not lead where it led when the call was judged. */
export async function locatePath(
  workspace: Workspace,
  { argument, input }: { readonly argument: string; readonly input: string },
  context?: Pick<ToolContext, "paths">,
): Promise<LocatedPath> {
  const fact = await examinePath({ argument, input }, workspace);
  return requireInside(workspace, fact, context);
}

/** The same for a tool that reads: also what is outside, where the rules let it be judged and it was allowed. */
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

/** What is there is no file of a disk: it tells of processes and their secrets, or does something when it is read. */
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
    throw createRefusal("moved", `${formatPath(input)} leads elsewhere than when it was allowed`);
  }
  const base = folder ?? workspace.root;
  const below = hostPath.slice(base.length + 1);
  const names = below === "" ? [] : below.split("/");
  const path = folder === undefined ? workspacePath : hostPath;
  return { path, hostPath, base, names, isOutside: false };
}

/** A path that nobody judged is not as it was judged. */
function isAsExamined(fact: PathFact, examined: readonly PathFact[]): boolean {
  const earlier = examined.find(({ argument }) => argument === fact.argument);
  return (
    earlier?.input === fact.input &&
    earlier.location === fact.location &&
    earlier.hostPath === fact.hostPath
  );
}

/** The folder that something is in, held open, and its name there. */
export async function withParentFolder<Value>(
  workspace: Workspace,
  { path, base, names, isOutside }: LocatedPath,
  use: (folder: Folder, name: string) => Promise<Value>,
  { make = false }: { readonly make?: boolean } = {},
): Promise<Value> {
  const name = names.at(-1);
  if (name === undefined)
    throw createRefusal("not_a_file", "That is the workspace itself, and no file");
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
    if (code === "ENOENT") throw createRefusal("missing", `There is no ${path}`, error);
    throw createRefusal("failed", `${path} cannot be opened (${code})`, error);
  }
}

/** A path from the model in a message back to it. */
export function formatPath(path: string): string {
  const short = path.length <= MAX_SHOWN ? path : `${path.slice(0, MAX_SHOWN)}…`;
  return /^[\p{L}\p{N}._/-]+$/u.test(short) ? short : JSON.stringify(short);
}

const MAX_SHOWN = 200;
