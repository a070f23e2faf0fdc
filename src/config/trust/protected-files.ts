import { resolve } from "node:path";
import { listCodeFiles } from "./code-files.ts";
import { listReferences } from "../variables/mcp-references.ts";
import type { AgentConfig } from "../read-config.ts";

/** Lists the protected paths of a configuration: code for the next start, and secrets. */
export async function listProtectedFiles(config: AgentConfig, folder: string): Promise<string[]> {
  const { environment, mcpServers, name } = config;
  const secrets = [
    ...environment.map(({ source }) => source),
    ...listReferences(mcpServers, `agents.${name}.mcpServers`),
  ];
  const files = secrets.flatMap((from) => ("file" in from ? [from.file] : []));
  return [...(await listCodeFiles(config, folder)), ...files.map((file) => resolve(folder, file))];
}
