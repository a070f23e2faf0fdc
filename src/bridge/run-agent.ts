import type { TurnCaps } from "../domain/agent-event.ts";
import { SpanlineError } from "../domain/errors.ts";
import { digestOf } from "../platform/digest.ts";
import type { Agent } from "../session/agent.ts";
import type { Tool } from "../tools/tool.ts";
import { guardedProvider, type Spent } from "./guarded-provider.ts";
import type { RunOptions } from "./run-options.ts";

export interface RunAgent {
  readonly agent: Agent;
  readonly spent: Spent;
}

/** An agent as one run wants it. */
export function agentForRun(agent: Agent, options: RunOptions): RunAgent {
  const { guard, caps = {}, stopAtTerminalTool = false } = options;
  if (guard !== undefined && typeof guard !== "function") {
    throw wrong("guard", `guard is ${typeof guard}, wanted a function`);
  }
  for (const [name, value] of Object.entries(caps)) checkCap(name, value);
  const name = stopAtTerminalTool ? agent.facts.terminalTool?.name : undefined;
  if (stopAtTerminalTool && name === undefined) {
    throw wrong("stopAtTerminalTool", `${agent.facts.name} has no terminal tool to stop at`);
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
  const facts = { ...agent.facts, caps: { ...agent.facts.caps, ...caps } };
  return {
    agent: { facts, digest: digestOf(facts), provider: guarded.provider, tools },
    get spent() {
      return guarded.spent;
    },
  };
}

function checkCap(name: string, value: TurnCaps[keyof TurnCaps] | undefined): void {
  if (name === "tokens" && value === null) return;
  if (typeof value === "number" && value > 0) return;
  throw wrong(`caps.${name}`, `caps.${name} is ${String(value)}, wanted a number above 0`);
}

function watched(tool: Tool, succeeded: () => void): Tool {
  return {
    ...tool,
    async run(input, context) {
      const output: unknown = await tool.run(input, context);
      succeeded();
      return output;
    },
  };
}

function wrong(path: string, message: string): SpanlineError {
  return new SpanlineError("invalid_option", message, { details: { path } });
}
