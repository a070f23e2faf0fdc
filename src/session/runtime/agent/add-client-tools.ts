import { digestValue } from "../../../platform/digest.ts";
import type { Tool } from "../../../tools/tool.ts";
import type { Agent } from "./agent.ts";

/** An agent with tools beside its own. Of two with one name the first stays: nobody gets another's call by its name. */
export function addClientTools(agent: Agent, clientTools: readonly Tool[]): Agent {
  const tools = new Map(agent.tools);
  const facts = [...agent.spec.tools];
  for (const tool of clientTools) {
    if (tools.has(tool.spec.name)) continue;
    tools.set(tool.spec.name, tool);
    facts.push(tool.spec);
  }
  if (tools.size === agent.tools.size) return agent;
  const equipped = { ...agent.spec, tools: facts };
  return { ...agent, spec: equipped, digest: digestValue(equipped), tools };
}
