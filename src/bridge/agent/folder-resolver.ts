import { realpath } from "node:fs/promises";
import { isAbsolute, relative } from "node:path";
import { SpanlineError } from "../../domain/errors.ts";
import type { Agent } from "../../session/runtime/agent/agent.ts";
import type { WorkspaceDefinition } from "../../config/agent/agent-definition.ts";

/**
 * The folder of a session. Where the workspace is fixed, a client that stands somewhere in it works in all of it, so that
 * rules about paths mean the same wherever one stands; one that stands outside is refused.
 */
export function createFolderResolver({
  root,
  isFixed = false,
}: WorkspaceDefinition): NonNullable<Agent["resolveFolder"]> {
  return async (named = root) => {
    if (!isFixed || named === root || (await isWithinFolder(named, root)))
      return isFixed ? root : named;
    const message = `workingDirectory is ${named}, and the agent works in ${root} alone; open that folder, or one in it`;
    throw new SpanlineError("invalid_option", message, { details: { path: "workingDirectory" } });
  };
}

/** Symlinks followed; what is not there is in nothing. */
async function isWithinFolder(folder: string, root: string): Promise<boolean> {
  const places = await Promise.all([realpath(root), realpath(folder)]).catch(() => undefined);
  if (places === undefined) return false;
  const relativePath = relative(...places);
  return relativePath !== ".." && !relativePath.startsWith("../") && !isAbsolute(relativePath);
}
