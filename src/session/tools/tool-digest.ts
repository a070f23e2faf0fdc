import type { AgentFacts } from "../../domain/agent-event.ts";
import { digestOf } from "../../platform/digest.ts";

/** Of all that a tool says of itself: one that says something else is another, whatever it is called. */
export function toolDigest(agent: AgentFacts | undefined, name: string): string {
  return digestOf(agent?.tools.find((tool) => tool.name === name) ?? null);
}

/** Whether another tool has the name now, or none. */
export function isOtherTool(
  name: string,
  before: AgentFacts | undefined,
  now: AgentFacts,
): boolean {
  return toolDigest(before, name) !== toolDigest(now, name);
}
