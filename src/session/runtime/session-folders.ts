import type { Agent } from "./agent/agent.ts";
import type { OpenOptions } from "../sessions.ts";

/** Resolves the working directory of a session. */
export async function resolveSessionFolder(
  { resolveFolder }: Agent,
  { workingDirectory: requestedFolder }: OpenOptions,
): Promise<Pick<OpenOptions, "workingDirectory">> {
  return resolveFolder === undefined
    ? {}
    : { workingDirectory: await resolveFolder(requestedFolder) };
}

/** Filters the additional folders the agent may use. A folder inside its working directory is dropped as redundant. */
export async function resolveExtraFolders(
  { resolveFolder: folderFor }: Agent,
  folders: readonly string[],
): Promise<readonly string[]> {
  if (folderFor === undefined) return [];
  const places = await Promise.all(folders.map((folder) => folderFor(folder)));
  return folders.filter((folder, at) => places[at] === folder);
}
