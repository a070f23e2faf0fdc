import { digestOf } from "../platform/digest.ts";
import type { Tool } from "../tools/tool.ts";
import type { Agent } from "./agent.ts";

/** An agent with tools beside its own. Of two with one name the first stays: nobody gets another's call by its name. */
export function equippedAgent(agent: Agent, others: readonly Tool[]): Agent {
  const tools = new Map(agent.tools);
  const facts = [...agent.facts.tools];
  for (const tool of others) {
    if (tools.has(tool.facts.name)) continue;
    tools.set(tool.facts.name, tool);
    facts.push(tool.facts);
  }
  if (tools.size === agent.tools.size) return agent;
  const equipped = { ...agent.facts, tools: facts };
  return { ...agent, facts: equipped, digest: digestOf(equipped), tools };
}
