import type { PathFact } from "../../domain/policy-decision.ts";
import type { ToolContext } from "../tool.ts";
import { openBelow, openOutside, type Anchor, type Folder } from "./files/folder.ts";
import { codeOf } from "./files/system-error.ts";
import type { WorkspaceLimits } from "./limits.ts";
import { examinePath, groundOf } from "./paths/examine-paths.ts";
import type { ProtectedPlaces } from "./paths/protected-places.ts";
import { refusal } from "./refusal.ts";

/** A workspace for one call: as it is on the disk now. */
export interface Workspace {
  /** Its real path. */
  readonly root: string;
  /** Those of the other folders that belong to it. */
  readonly folders: readonly string[];
  readonly places: ProtectedPlaces;
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
export interface Located {
  /** From the workspace, with `/`; `.` for itself. Where it is in another folder, or outside, the whole path. */
  readonly path: string;
  readonly hostPath: string;
  /** The folder that it is found from. */
  readonly base: string;
  /** From there name by name, as they are on the disk; from the root of the machine where it is outside. */
  readonly names: readonly string[];
  readonly isOutside: boolean;
}

export interface WorkspacePlace {
  readonly root: string;
  readonly folders?: readonly string[];
  readonly protectedFolders: readonly string[];
  readonly limits: WorkspaceLimits;
  /** Whether the rules let a file be read that no call names; every one when absent. */
  readonly mayRead?: (file: FoundFile) => boolean;
  readonly anchor?: Anchor;
}

export async function openWorkspace(place: WorkspacePlace): Promise<Workspace> {
  const { root, folders, places } = await groundOf(place);
  if (root === null) throw refusal("missing", "The workspace is not there");
  if (root === "/") throw refusal("invalid", "The whole machine is no workspace");
  const { limits, anchor, mayRead = () => true } = place;
  return { root, folders, places, limits, mayRead, ...(anchor !== undefined && { anchor }) };
}

/** Follows an argument that is a path, and refuses one that does not lead where it led when the call was judged. */
export async function locate(
  workspace: Workspace,
  { argument, input }: { readonly argument: string; readonly input: string },
  context?: Pick<ToolContext, "paths">,
): Promise<Located> {
  const fact = await examinePath({ argument, input }, workspace);
  return locatedInside(workspace, fact, context);
}

/** The same for a tool that reads: also what is outside, where the rules let it be judged and it was allowed. */
export async function locateToRead(
  workspace: Workspace,
  { argument, input }: { readonly argument: string; readonly input: string },
  context?: Pick<ToolContext, "paths">,
): Promise<Located> {
  const fact = await examinePath({ argument, input }, workspace);
  const { place, hostPath } = fact;
  const isJudged = context?.paths !== undefined && isAsJudged(fact, context.paths);
  if (place !== "outside" || hostPath === null || !isJudged || SYSTEM.test(hostPath)) {
    return locatedInside(workspace, fact, context);
  }
  const names = hostPath.split("/").filter((name) => name !== "");
  return { path: hostPath, hostPath, base: "/", names, isOutside: true };
}

/** What is there is no file of a disk: it tells of processes and their secrets, or does something when it is read. */
const SYSTEM = /^\/(?:proc|sys|dev)(?:\/|$)/;

function locatedInside(
  workspace: Workspace,
  fact: PathFact,
  context: Pick<ToolContext, "paths"> | undefined,
): Located {
  const { input, place, hostPath, workspacePath, folder, reason } = fact;
  if (place !== "inside" || hostPath === null || workspacePath === null) {
    throw refusal(
      place === "inside" ? "invalid" : place,
      `${shown(input)} cannot be used: ${reason}`,
    );
  }
  if (context?.paths !== undefined && !isAsJudged(fact, context.paths)) {
    throw refusal("moved", `${shown(input)} leads elsewhere than when it was allowed`);
  }
  const base = folder ?? workspace.root;
  const below = hostPath.slice(base.length + 1);
  const names = below === "" ? [] : below.split("/");
  const path = folder === undefined ? workspacePath : hostPath;
  return { path, hostPath, base, names, isOutside: false };
}

/** A path that nobody judged is not as it was judged. */
function isAsJudged(fact: PathFact, judged: readonly PathFact[]): boolean {
  const before = judged.find(({ argument }) => argument === fact.argument);
  return (
    before?.input === fact.input && before.place === fact.place && before.hostPath === fact.hostPath
  );
}

/** The folder that something is in, held open, and its name there. */
export async function inItsFolder<Value>(
  workspace: Workspace,
  { path, base, names, isOutside }: Located,
  use: (folder: Folder, name: string) => Promise<Value>,
  { make = false }: { readonly make?: boolean } = {},
): Promise<Value> {
  const name = names.at(-1);
  if (name === undefined) throw refusal("not_a_file", "That is the workspace itself, and no file");
  const folder = await folderAt(workspace, names.slice(0, -1), { path, base, isOutside, make });
  try {
    return await use(folder, name);
  } finally {
    await folder.close();
  }
}

interface FolderWish extends Pick<Located, "path" | "base" | "isOutside"> {
  readonly make?: boolean;
}

export async function folderAt(
  workspace: Workspace,
  names: readonly string[],
  { path, base, isOutside, make = false }: FolderWish,
): Promise<Folder> {
  try {
    if (isOutside) return await openOutside(`/${names.join("/")}`, workspace);
    return await openBelow(base, names, { ...workspace, make, isNamed: base === workspace.root });
  } catch (error) {
    const code = codeOf(error);
    if (code === "workspace_refused" || code === "") throw error;
    if (code === "ENOENT") throw refusal("missing", `There is no ${path}`, error);
    throw refusal("failed", `${path} cannot be opened (${code})`, error);
  }
}

/** A path from the model in a message back to it. */
export function shown(path: string): string {
  const short = path.length <= MOST_SHOWN ? path : `${path.slice(0, MOST_SHOWN)}…`;
  return /^[\p{L}\p{N}._/-]+$/u.test(short) ? short : JSON.stringify(short);
}

const MOST_SHOWN = 200;
