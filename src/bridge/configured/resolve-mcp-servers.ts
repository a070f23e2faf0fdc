import { resolve } from "node:path";
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

/** Relative paths of a configuration start at its folder: programs, their arguments and roots. */
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
  return { servers, secrets };
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
