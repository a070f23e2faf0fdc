import { digestValue } from "../../platform/digest.ts";
import type { Agent } from "../../session/runtime/agent/agent.ts";
import type { Tool } from "../../tools/tool.ts";
import { mergeCaps } from "../../config/agent/turn-caps.ts";
import { createInvalidOptionError } from "../../domain/option-reader.ts";
import { createGuardedProvider, type TurnUsage } from "./guarded-provider.ts";
import type { RunOptions } from "./run-options.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

export interface RunAgent {
  readonly agent: Agent;
  readonly turnUsage: TurnUsage;
}

/** Applies the options of a run to its agent: guard, caps and `stopAtTerminalTool`. */
export function prepareRunAgent(agent: Agent, options: RunOptions): RunAgent {
  const { guard, caps, stopAtTerminalTool = false } = options;
  const name = stopAtTerminalTool ? agent.spec.terminalTool?.name : undefined;
  if (stopAtTerminalTool && name === undefined) {
    throw createInvalidOptionError(
      "stopAtTerminalTool",
      `${agent.spec.name} has no terminal tool to stop at`,
    );
  }
  let isDone = false;
  const guarded = createGuardedProvider(agent.provider, { guard, isDone: () => isDone });
  /** Also applied to the agent that a session opens, whose tools may change. */
  const applyRunOptions = (source: Agent): Agent => {
    const tools = new Map(source.tools);
    const last = name === undefined ? undefined : tools.get(name);
    const markDone = (): void => void (isDone = true);
    if (last !== undefined) tools.set(last.spec.name, observeTool(last, markDone));
    const spec = { ...source.spec, caps: mergeCaps(source.spec.caps, caps) };
    return { ...source, spec, digest: digestValue(spec), provider: guarded.provider, tools };
  };
  const { open } = agent;
  const opened: Agent["open"] =
    open === undefined
      ? undefined
      : async (place) => {
          const onChange = (now: Agent): void => place.onChange(applyRunOptions(now));
          const live = await open({ ...place, onChange });
          return { ...live, agent: applyRunOptions(live.agent) };
        };
  return {
    agent: { ...applyRunOptions(agent), ...omitUndefined({ open: opened }) },
    get turnUsage() {
      return guarded.turnUsage;
    },
  };
}

/** A tool may be an instance of a class, so its methods are called on the tool itself. */
function observeTool(tool: Tool, onSuccess: () => void): Tool {
  const { spec: facts, examine } = tool;
  return {
    spec: facts,
    ...(examine !== undefined && { examine: (call) => examine.call(tool, call) }),
    check: (input) => tool.check(input),
    async run(input, context) {
      const output: unknown = await tool.run(input, context);
      onSuccess();
      return output;
    },
  };
}
