import { digestOf } from "../platform/digest.ts";
import type { Agent } from "../session/agent.ts";
import type { Tool } from "../tools/tool.ts";
import { withCaps } from "./check-caps.ts";
import { wrongOption } from "./check-options.ts";
import { guardedProvider, type Spent } from "./guarded-provider.ts";
import type { RunOptions } from "./run-options.ts";

export interface RunAgent {
  readonly agent: Agent;
  readonly spent: Spent;
}

/** An agent as one run wants it. */
export function agentForRun(agent: Agent, options: RunOptions): RunAgent {
  const { guard, caps, stopAtTerminalTool = false } = options;
  const name = stopAtTerminalTool ? agent.facts.terminalTool?.name : undefined;
  if (stopAtTerminalTool && name === undefined) {
    throw wrongOption("stopAtTerminalTool", `${agent.facts.name} has no terminal tool to stop at`);
  }
  let isDone = false;
  const tools = new Map(agent.tools);
  const last = name === undefined ? undefined : tools.get(name);
  if (last !== undefined)
    tools.set(
      last.facts.name,
      watched(last, () => (isDone = true)),
    );
  const guarded = guardedProvider(agent.provider, { guard, isDone: () => isDone });
  const facts = { ...agent.facts, caps: withCaps(agent.facts.caps, caps) };
  return {
    agent: { facts, digest: digestOf(facts), provider: guarded.provider, tools },
    get spent() {
      return guarded.spent;
    },
  };
}

function watched(tool: Tool, succeeded: () => void): Tool {
  return {
    facts: tool.facts,
    check: (input) => tool.check(input),
    async run(input, context) {
      const output: unknown = await tool.run(input, context);
      succeeded();
      return output;
    },
  };
}
