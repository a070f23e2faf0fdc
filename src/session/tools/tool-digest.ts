import type { AgentFacts } from "../../domain/agent-event.ts";
import { digestOf } from "../../platform/digest.ts";

/** Of all that a tool says of itself: one that says something else is another, whatever it is called. */
export function toolDigest(agent: AgentFacts | undefined, name: string): string {
  return digestOf(agent?.tools.find((tool) => tool.name === name) ?? null);
}
