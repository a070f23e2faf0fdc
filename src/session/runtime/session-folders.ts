import type { Agent } from "./agent/agent.ts";
import type { OpenOptions } from "../sessions.ts";

/** Where a session works. */
export async function resolveSessionFolder(
  { resolveFolder }: Agent,
  { workingDirectory: requestedFolder }: OpenOptions,
): Promise<Pick<OpenOptions, "workingDirectory">> {
  return resolveFolder === undefined
    ? {}
    : { workingDirectory: await resolveFolder(requestedFolder) };
}

/** Those that the agent may work in. Where it keeps to one folder, what is in that needs no name of its own. */
export async function resolveExtraFolders(
  { resolveFolder: folderFor }: Agent,
  folders: readonly string[],
): Promise<readonly string[]> {
  if (folderFor === undefined) return [];
  const places = await Promise.all(folders.map((folder) => folderFor(folder)));
  return folders.filter((folder, at) => places[at] === folder);
}
