import { resolve } from "node:path";
import { readMcpServers } from "../read-mcp-servers.ts";
import type { McpConnection } from "../with-mcp-servers.ts";
import { withValues } from "./mcp-references.ts";
import type { AgentConfig } from "./read-config.ts";
import { valueOf, type FoundValue, type ReferencePlace, type Variable } from "./variables.ts";

/** What they name is from the folder of the configuration, wherever one stands: so are the programs that they are. */
export async function serversOf(
  { name, mcpServers }: AgentConfig,
  place: ReferencePlace,
): Promise<Required<Pick<McpConnection, "servers" | "secrets">>> {
  if (mcpServers === undefined) return { servers: [], secrets: [] };
  const path = `agents.${name}.mcpServers`;
  const find = (variable: Variable): Promise<FoundValue> => valueOf(variable, place);
  const { value, secrets } = await withValues(mcpServers, path, find);
  const servers = readMcpServers(value, path).map((server) =>
    server.type === "stdio" ? { ...server, cwd: resolve(place.folder, server.cwd ?? ".") } : server,
  );
  return { servers, secrets };
}
