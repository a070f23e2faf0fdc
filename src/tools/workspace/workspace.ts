import type { PathFact } from "../../domain/policy-decision.ts";
import type { ToolContext } from "../tool.ts";
import { openBelow, type Anchor, type Folder } from "./files/folder.ts";
import { codeOf } from "./files/system-error.ts";
import type { WorkspaceLimits } from "./limits.ts";
import { examinePath, groundOf } from "./paths/examine-paths.ts";
import type { ProtectedPlaces } from "./paths/protected-places.ts";
import { refusal } from "./refusal.ts";

/** A workspace for one call: as it is on the disk now. */
export interface Workspace {
  /** Its real path. */
  readonly root: string;
  readonly places: ProtectedPlaces;
  readonly limits: WorkspaceLimits;
  readonly mayRead: (path: string) => boolean;
  readonly anchor?: Anchor;
}

/** Something in a workspace, where it was when the call was judged. */
export interface Located {
  /** From the workspace, with `/`; `.` for itself. */
  readonly path: string;
  readonly hostPath: string;
  /** The same name by name, as they are on the disk. */
  readonly names: readonly string[];
}

export interface WorkspacePlace {
  readonly root: string;
  readonly protectedFolders: readonly string[];
  readonly limits: WorkspaceLimits;
  /** Whether the rules let a file be read that no call names; every one when absent. */
  readonly mayRead?: (path: string) => boolean;
  readonly anchor?: Anchor;
}

export async function openWorkspace(place: WorkspacePlace): Promise<Workspace> {
  const { root, places } = await groundOf(place);
  if (root === null) throw refusal("missing", "The workspace is not there");
  if (root === "/") throw refusal("invalid", "The whole machine is no workspace");
  const { limits, anchor, mayRead = () => true } = place;
  return { root, places, limits, mayRead, ...(anchor !== undefined && { anchor }) };
}

/** Follows an argument that is a path, and refuses one that does not lead where it led when the call was judged. */
export async function locate(
  workspace: Workspace,
  { argument, input }: { readonly argument: string; readonly input: string },
  context?: Pick<ToolContext, "paths">,
): Promise<Located> {
  const fact = await examinePath({ argument, input }, workspace);
  const { place, hostPath, workspacePath, reason } = fact;
  if (place !== "inside" || hostPath === null || workspacePath === null) {
    throw refusal(
      place === "inside" ? "invalid" : place,
      `${shown(input)} cannot be used: ${reason}`,
    );
  }
  if (context?.paths !== undefined && !isAsJudged(fact, context.paths)) {
    throw refusal("moved", `${shown(input)} leads elsewhere than when it was allowed`);
  }
  const below = hostPath.slice(workspace.root.length + 1);
  return { path: workspacePath, hostPath, names: below === "" ? [] : below.split("/") };
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
  { path, names }: Located,
  use: (folder: Folder, name: string) => Promise<Value>,
  { make = false }: { readonly make?: boolean } = {},
): Promise<Value> {
  const name = names.at(-1);
  if (name === undefined) throw refusal("not_a_file", "That is the workspace itself, and no file");
  const folder = await folderAt(workspace, names.slice(0, -1), { path, make });
  try {
    return await use(folder, name);
  } finally {
    await folder.close();
  }
}

export async function folderAt(
  workspace: Workspace,
  names: readonly string[],
  { path, make = false }: { readonly path: string; readonly make?: boolean },
): Promise<Folder> {
  try {
    return await openBelow(workspace.root, names, { ...workspace, make });
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
