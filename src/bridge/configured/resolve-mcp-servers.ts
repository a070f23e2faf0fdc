import { resolve } from "node:path";
import { createInvalidOptionError } from "../../domain/option-reader.ts";
import { isFolder } from "../../platform/files/is-folder.ts";
import { formatValue } from "../../text/format-value.ts";
import type { McpServerSettings } from "../../tools/mcp/mcp-server-settings.ts";
import { readMcpServers } from "../../config/agent/read-mcp-servers.ts";
import type { McpConnection } from "../../tools/mcp/mcp-server-settings.ts";
import { resolveReferences } from "../../config/variables/mcp-references.ts";
import type { AgentConfig } from "../../config/read-config.ts";
import {
  resolveVariable,
  type ResolvedValue,
  type ReferenceContext,
  type Variable,
} from "../../config/variables/variables.ts";

/**
 * Resolves the MCP servers of an agent. Relative paths (programs, arguments and roots) start at the configuration's
 * folder.
 */
export async function resolveMcpServers(
  { name, mcpServers }: AgentConfig,
  context: ReferenceContext,
): Promise<Required<Pick<McpConnection, "servers" | "secrets">>> {
  if (mcpServers === undefined) return { servers: [], secrets: [] };
  const path = `agents.${name}.mcpServers`;
  const find = (variable: Variable): Promise<ResolvedValue> => resolveVariable(variable, context);
  const { value, secrets } = await resolveReferences(mcpServers, path, find);
  const servers = readMcpServers(value, path).map((server) =>
    resolveServerPaths(server, context.folder),
  );
  await Promise.all(
    servers.map((server, at) =>
      checkRoots(server, `${path}${Array.isArray(value) ? `[${at}]` : `.${server.name}`}.roots`),
    ),
  );
  return { servers, secrets };
}

/** Throws if a root does not exist: a server would ignore or create such a root. */
async function checkRoots({ roots = [] }: McpServerSettings, path: string): Promise<void> {
  if (roots === "session") return;
  for (const [at, root] of roots.entries()) {
    if (await isFolder(root)) continue;
    const message = `${path}[${at}] is ${formatValue(root)}: no such folder. Fix: create it, or correct the path`;
    throw createInvalidOptionError(`${path}[${at}]`, message);
  }
}

function resolveServerPaths(server: McpServerSettings, folder: string): McpServerSettings {
  const { roots } = server;
  const rooted = {
    ...server,
    ...(Array.isArray(roots) && { roots: roots.map((root) => resolve(folder, root)) }),
  };
  if (rooted.type !== "stdio") return rooted;
  return { ...rooted, cwd: resolve(folder, rooted.cwd ?? ".") };
}
