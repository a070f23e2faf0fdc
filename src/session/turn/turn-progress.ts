import type { AgentFacts, PromptOptions } from "../../domain/agent-event.ts";
import type { AnsweredCall, TurnProgress } from "../../providers/provider.ts";
import type { ToolRun } from "../tools/tools-state.ts";
import { isAllowedBy } from "../turn-options.ts";
import type { CurrentTurn } from "./turn-state.ts";

/** Where the turn stands when a call of the provider is made, which counts as a step already. */
export function turnProgress(
  { steps, options }: CurrentTurn,
  runs: readonly ToolRun[],
  facts: AgentFacts,
): TurnProgress {
  const missing = missingTerminalTool(runs, facts, options);
  return {
    callsLeft: Math.max(1, facts.caps.steps - steps + 1),
    answered: runs.flatMap(answeredCall),
    ...(missing !== undefined && { terminalTool: missing }),
  };
}

/** The tool that has to end the turn, unless it did its work in it, or may not be called in it. */
export function missingTerminalTool(
  runs: readonly ToolRun[],
  { terminalTool }: AgentFacts,
  options: PromptOptions | null,
): string | undefined {
  const name = terminalTool?.name;
  const isDone = runs.some((run) => run.name === name && run.ending === "succeeded");
  return isDone || name === undefined || !isAllowedBy(options, name) ? undefined : name;
}

/** A call that was cut off together with what said it was never answered: the agent does not know of it. */
function answeredCall({ call, result, ending }: ToolRun): AnsweredCall[] {
  if (call === null || result === undefined || ending === "cancelled") return [];
  return [{ call, result }];
}
