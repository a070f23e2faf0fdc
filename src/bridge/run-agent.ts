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
  const guarded = guardedProvider(agent.provider, { guard, isDone: () => isDone });
  /** Also of what the agent is while a session has it open. */
  const forRun = (one: Agent): Agent => {
    const tools = new Map(one.tools);
    const last = name === undefined ? undefined : tools.get(name);
    const ended = (): void => void (isDone = true);
    if (last !== undefined) tools.set(last.facts.name, watched(last, ended));
    const facts = { ...one.facts, caps: withCaps(one.facts.caps, caps) };
    return { ...one, facts, digest: digestOf(facts), provider: guarded.provider, tools };
  };
  const { open } = agent;
  const opened: Agent["open"] =
    open === undefined
      ? undefined
      : async (place) => {
          const changed = (now: Agent): void => place.changed(forRun(now));
          const live = await open({ ...place, changed });
          return { ...live, agent: forRun(live.agent) };
        };
  return {
    agent: { ...forRun(agent), ...(opened !== undefined && { open: opened }) },
    get spent() {
      return guarded.spent;
    },
  };
}

/** A tool may be an instance of a class, whose methods need it. */
function watched(tool: Tool, succeeded: () => void): Tool {
  const { facts, examine } = tool;
  return {
    facts,
    ...(examine !== undefined && { examine: (call) => examine.call(tool, call) }),
    check: (input) => tool.check(input),
    async run(input, context) {
      const output: unknown = await tool.run(input, context);
      succeeded();
      return output;
    },
  };
}
