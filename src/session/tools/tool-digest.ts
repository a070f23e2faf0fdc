import type { AgentSpec } from "../../domain/agent-spec.ts";
import { digestValue } from "../../platform/digest.ts";

/** Of all that a tool says of itself: one that says something else is another, whatever it is called. */
export function digestTool(agent: AgentSpec | undefined, name: string): string {
  return digestValue(agent?.tools.find((tool) => tool.name === name) ?? null);
}

/** Whether another tool has the name now, or none. */
export function isToolReplaced(
  name: string,
  previousSpec: AgentSpec | undefined,
  nextSpec: AgentSpec,
): boolean {
  return digestTool(previousSpec, name) !== digestTool(nextSpec, name);
}
