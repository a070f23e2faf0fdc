import { realpath } from "node:fs/promises";
import { isAbsolute, relative } from "node:path";
import { SpanlineError } from "../domain/errors.ts";
import type { Agent } from "../session/agent.ts";
import type { WorkspacePlace } from "./agent-definition.ts";

/**
 * The folder of a session. Where the workspace is fixed, a client that stands somewhere in it works in all of it, so that
 * rules about paths mean the same wherever one stands; one that stands outside is refused.
 */
export function folderIn({
  root,
  isFixed = false,
}: WorkspacePlace): NonNullable<Agent["folderFor"]> {
  return async (named = root) => {
    if (!isFixed || named === root || (await isBelow(named, root))) return isFixed ? root : named;
    const message = `workingDirectory is ${named}, and the agent works in ${root} alone; open that folder, or one in it`;
    throw new SpanlineError("invalid_option", message, { details: { path: "workingDirectory" } });
  };
}

/** Symlinks followed; what is not there is in nothing. */
async function isBelow(folder: string, root: string): Promise<boolean> {
  const places = await Promise.all([realpath(root), realpath(folder)]).catch(() => undefined);
  if (places === undefined) return false;
  const way = relative(...places);
  return way !== ".." && !way.startsWith("../") && !isAbsolute(way);
}
