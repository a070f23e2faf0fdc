import { resolve } from "node:path";
import type { McpServerSettings } from "../../tools/mcp/mcp-server-settings.ts";
import { readMcpServers } from "../read-mcp-servers.ts";
import type { McpConnection } from "../with-mcp-servers.ts";
import { withValues } from "./mcp-references.ts";
import type { AgentConfig } from "./read-config.ts";
import { valueOf, type FoundValue, type ReferencePlace, type Variable } from "./variables.ts";

/** Relative paths of a configuration start at its folder: programs, their arguments and roots. */
export async function serversOf(
  { name, mcpServers }: AgentConfig,
  place: ReferencePlace,
): Promise<Required<Pick<McpConnection, "servers" | "secrets">>> {
  if (mcpServers === undefined) return { servers: [], secrets: [] };
  const path = `agents.${name}.mcpServers`;
  const find = (variable: Variable): Promise<FoundValue> => valueOf(variable, place);
  const { value, secrets } = await withValues(mcpServers, path, find);
  const servers = readMcpServers(value, path).map((server) => inFolder(server, place.folder));
  return { servers, secrets };
}

function inFolder(server: McpServerSettings, folder: string): McpServerSettings {
  const { roots } = server;
  const rooted = {
    ...server,
    ...(Array.isArray(roots) && { roots: roots.map((root) => resolve(folder, root)) }),
  };
  if (rooted.type !== "stdio") return rooted;
  return { ...rooted, cwd: resolve(folder, rooted.cwd ?? ".") };
}
