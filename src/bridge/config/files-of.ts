import { resolve } from "node:path";
import { referencesIn } from "./mcp-references.ts";
import type { AgentConfig } from "./read-config.ts";

/** Files that a configuration names, which no tool may touch: code that would run at the next start, and secrets. */
export function filesOf(
  { toolFiles, environment, mcpServers, name }: AgentConfig,
  folder: string,
): string[] {
  const secrets = [
    ...environment.map(({ from }) => from),
    ...referencesIn(mcpServers, `agents.${name}.mcpServers`),
  ];
  const files = secrets.flatMap((from) => ("file" in from ? [from.file] : []));
  return [...toolFiles, ...files].map((file) => resolve(folder, file));
}
