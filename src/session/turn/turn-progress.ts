import type { AgentFacts } from "../../domain/agent-event.ts";
import type { AnsweredCall, TurnProgress } from "../../providers/provider.ts";
import type { ToolRun } from "../tools/tools-state.ts";
import type { CurrentTurn } from "./turn-state.ts";

/** Where the turn stands when a call of the provider is made, which counts as a step already. */
export function turnProgress(
  { steps }: CurrentTurn,
  runs: readonly ToolRun[],
  facts: AgentFacts,
): TurnProgress {
  const missing = missingTerminalTool(runs, facts);
  return {
    callsLeft: Math.max(1, facts.caps.steps - steps + 1),
    answered: runs.flatMap(answeredCall),
    ...(missing !== undefined && { terminalTool: missing }),
  };
}

/** The tool that has to end the turn, unless it did its work in it. */
export function missingTerminalTool(
  runs: readonly ToolRun[],
  { terminalTool }: AgentFacts,
): string | undefined {
  const name = terminalTool?.name;
  const isDone = runs.some((run) => run.name === name && run.ending === "succeeded");
  return isDone ? undefined : name;
}

/** A call that was cut off together with what said it was never answered: the agent does not know of it. */
function answeredCall({ call, result, ending }: ToolRun): AnsweredCall[] {
  if (call === null || result === undefined || ending === "cancelled") return [];
  return [{ call, result }];
}
