import type { AgentFacts, OnLost, TurnCaps } from "../domain/agent-event.ts";
import { digestOf } from "../platform/digest.ts";
import type { Agent } from "../session/agent.ts";
import type { Tool } from "../tools/tool.ts";
import type { AgentDefinition } from "./agent-definition.ts";
import { withCaps } from "./check-caps.ts";
import { checkDefinition } from "./check-definition.ts";

const DEFAULT_CAPS: TurnCaps = {
  steps: 50,
  seconds: 3600,
  tokens: null,
  toolCalls: 200,
  parallelTools: 8,
};

/** An agent that sessions can be opened with. What cannot work, or is misspelt, is refused here. */
export function defineAgent(definition: AgentDefinition): Agent {
  checkDefinition(definition);
  const { provider, tools = [], onLost = "ask" } = definition;
  // Opening sends nothing, and what the provider's own settings forbid is said now.
  const canStop = provider.open().stop !== undefined;
  const facts = factsOf(definition, { tools, onLost, canStop });
  const byName = new Map(tools.map((tool) => [tool.facts.name, tool]));
  return { facts, digest: digestOf(facts), provider, tools: byName };
}

interface Checked {
  readonly tools: readonly Tool[];
  readonly onLost: OnLost;
  readonly canStop: boolean;
}

function factsOf(definition: AgentDefinition, { tools, onLost, canStop }: Checked): AgentFacts {
  const { name, provider, caps, approvalSeconds = 3600, terminalTool } = definition;
  const { deny = [], ask = [], allow = [], otherwise = "ask" } = definition.approvals ?? {};
  const { idleSeconds, lifetimeSeconds } = definition.upstream ?? {};
  return {
    name,
    provider: {
      name: provider.name,
      seams: provider.seams,
      effectFree: provider.effectFree,
      canStop,
      ...(idleSeconds !== undefined && { idleMs: idleSeconds * 1000 }),
      ...(lifetimeSeconds !== undefined && { lifetimeMs: lifetimeSeconds * 1000 }),
    },
    tools: tools.map((tool) => tool.facts),
    approvals: { deny, ask, allow, otherwise },
    caps: withCaps(DEFAULT_CAPS, caps),
    onLost,
    settle: definition.settle ?? "wait",
    approvalMs: approvalSeconds * 1000,
    ...(terminalTool !== undefined && {
      terminalTool: { name: terminalTool.name, maxReprompts: terminalTool.maxReprompts ?? 2 },
    }),
  };
}
