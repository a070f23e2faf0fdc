import type { Agent } from "./agent.ts";
import type { OpenSession } from "./sessions.ts";

/** Where a session works. */
export async function folderOf(
  { folderFor }: Agent,
  { workingDirectory: named }: OpenSession,
): Promise<Pick<OpenSession, "workingDirectory">> {
  return folderFor === undefined ? {} : { workingDirectory: await folderFor(named) };
}

/** Those that the agent may work in. Where it keeps to one folder, what is in that needs no name of its own. */
export async function otherFolders(
  { folderFor }: Agent,
  folders: readonly string[],
): Promise<readonly string[]> {
  if (folderFor === undefined) return [];
  const places = await Promise.all(folders.map((folder) => folderFor(folder)));
  return folders.filter((folder, at) => places[at] === folder);
}
