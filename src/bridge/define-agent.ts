import type { AgentFacts, ApprovalLists, OnLost, Settle, TurnCaps } from "../domain/agent-event.ts";
import { SpanlineError } from "../domain/errors.ts";
import { digestOf } from "../platform/digest.ts";
import type { Provider } from "../providers/provider.ts";
import type { Agent } from "../session/agent.ts";
import type { Tool } from "../tools/tool.ts";

export interface AgentDefinition {
  readonly name: string;
  readonly provider: Provider;
  readonly tools?: readonly Tool[];
  /** Which tools run without asking, after asking, or never. What no list names is asked about. */
  readonly approvals?: Partial<ApprovalLists>;
  readonly caps?: Partial<TurnCaps>;
  readonly onLost?: OnLost;
  /**
   * How an agent that may still be at work, after a cancel or a lost call, is brought to rest. `wait` unless said
   * otherwise: stopping ends its machine, and whatever only that machine remembers.
   */
  readonly settle?: Settle;
  /** How long an approval waits for its answer. */
  readonly approvalSeconds?: number;
  /** After this much quiet, or age, the provider has let a conversation go: it is begun anew from the log. */
  readonly upstream?: { readonly idleSeconds?: number; readonly lifetimeSeconds?: number };
  /** A turn that ends without this tool is asked again. */
  readonly terminalTool?: { readonly name: string; readonly maxReprompts?: number };
}

const DEFAULT_CAPS: TurnCaps = {
  steps: 50,
  seconds: 3600,
  tokens: null,
  toolCalls: 200,
  parallelTools: 8,
};

/** An agent that sessions can be opened with. What cannot work is refused here. */
export function defineAgent(definition: AgentDefinition): Agent {
  const { name, provider, tools = [], onLost = "ask", terminalTool } = definition;
  if (!/^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,63}$/.test(name)) {
    throw wrong("name", `"${name}" is no name for an agent; use letters, digits, _, . and -`);
  }
  const byName = new Map(tools.map((tool) => [tool.facts.name, tool]));
  if (byName.size < tools.length) {
    const names = tools.map((tool) => tool.facts.name);
    const twice = names.find((one, at) => names.indexOf(one) !== at);
    throw wrong("tools", `${name} has two tools named ${twice}`);
  }
  if (onLost === "resend" && !provider.effectFree) {
    const message = `Calls of ${provider.name} have effects, so that a lost one is never made again; use ask, continue or reseed`;
    throw wrong("onLost", message);
  }
  if (terminalTool !== undefined && !byName.has(terminalTool.name)) {
    throw wrong("terminalTool", `${name} has no tool named ${terminalTool.name}`);
  }
  for (const [cap, value] of Object.entries(definition.caps ?? {})) {
    if (value === null ? cap === "tokens" : value > 0) continue;
    throw wrong(`caps.${cap}`, `The cap ${cap} of ${name} is ${value}; give it a number above 0`);
  }
  // Opening sends nothing, and what the provider's own settings forbid is said now.
  const canStop = provider.open().stop !== undefined;
  const facts = factsOf(definition, { tools, onLost, canStop });
  return { facts, digest: digestOf(facts), provider, tools: byName };
}

interface Checked {
  readonly tools: readonly Tool[];
  readonly onLost: OnLost;
  readonly canStop: boolean;
}

function factsOf(definition: AgentDefinition, { tools, onLost, canStop }: Checked): AgentFacts {
  const { name, provider, approvals, caps, approvalSeconds = 3600, terminalTool } = definition;
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
    approvals: { deny: [], ask: [], allow: [], otherwise: "ask", ...approvals },
    caps: { ...DEFAULT_CAPS, ...caps },
    onLost,
    settle: definition.settle ?? "wait",
    approvalMs: approvalSeconds * 1000,
    ...(terminalTool !== undefined && {
      terminalTool: { name: terminalTool.name, maxReprompts: terminalTool.maxReprompts ?? 2 },
    }),
  };
}

function wrong(path: string, message: string): SpanlineError {
  return new SpanlineError("invalid_option", message, { details: { path } });
}
