import type { AgentSpec } from "../../domain/agent-spec.ts";
import { digestValue } from "../../platform/digest.ts";

/** Digest of a tool's whole description: a changed description makes it another tool, regardless of its name. */
export function digestTool(agent: AgentSpec | undefined, name: string): string {
  return digestValue(agent?.tools.find((tool) => tool.name === name) ?? null);
}

/** Whether the name now belongs to another tool, or to none. */
export function isToolReplaced(
  name: string,
  previousSpec: AgentSpec | undefined,
  nextSpec: AgentSpec,
): boolean {
  return digestTool(previousSpec, name) !== digestTool(nextSpec, name);
}
