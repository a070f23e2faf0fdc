import { openFile } from "./files/open-file.ts";
import { readWholeFile } from "./files/read-whole-file.ts";
import type { WorkspacePaths } from "./paths/examine-paths.ts";
import { locatePath, openWorkspace, withParentFolder, type Workspace } from "./workspace.ts";
import { DEFAULT_WORKSPACE_LIMITS } from "./workspace-limits.ts";

/**
 * Computes the digests of files which a tool has read or written: null for a missing file. Files outside the workspace,
 * larger than the limit of the editing tools or not readable are left out.
 */
export async function digestFiles(
  paths: readonly string[],
  workspacePaths: WorkspacePaths,
): Promise<ReadonlyMap<string, string | null>> {
  const digests = new Map<string, string | null>();
  const workspace = await openWorkspace({ ...workspacePaths, limits: DEFAULT_WORKSPACE_LIMITS });
  for (const path of paths) {
    const digest = await digestFile(path, workspace).catch(() => undefined);
    if (digest !== undefined) digests.set(path, digest);
  }
  return digests;
}

/** Undefined if the file is too large. */
async function digestFile(path: string, workspace: Workspace): Promise<string | null | undefined> {
  const located = await locatePath(workspace, { argument: "path", input: path });
  return withParentFolder(workspace, located, async (folder, name) => {
    const opened = await openFile(folder, name, workspace.places);
    if (opened === undefined) return null;
    try {
      return (await readWholeFile(opened, workspace.limits.fileBytes))?.sha256;
    } finally {
      await opened.handle.close();
    }
  });
}
