import type { AgentSpec } from "../../domain/agent-spec.ts";
import type { PromptOptions } from "../../domain/prompt.ts";
import type { AnsweredToolCall, TurnProgress } from "../../providers/provider.ts";
import type { ToolRun } from "../tools/tools-state.ts";
import { isToolAllowed } from "../turn-options.ts";
import type { CurrentTurn } from "./turn-state.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/** Where the turn stands when a call of the provider is made, which counts as a step already. */
export function readTurnProgress(
  { steps, options }: CurrentTurn,
  runs: readonly ToolRun[],
  facts: AgentSpec,
): TurnProgress {
  const missing = findMissingTerminalTool(runs, facts, options);
  return {
    remainingInvocations: Math.max(1, facts.caps.steps - steps + 1),
    answeredToolCalls: runs.flatMap(toAnsweredToolCall),
    ...omitUndefined({ terminalTool: missing }),
  };
}

/** The tool that has to end the turn, unless it did its work in it, or may not be called in it. */
export function findMissingTerminalTool(
  runs: readonly ToolRun[],
  { terminalTool }: AgentSpec,
  options: PromptOptions | null,
): string | undefined {
  const name = terminalTool?.name;
  const hasSucceeded = runs.some((run) => run.name === name && run.ending === "succeeded");
  return hasSucceeded || name === undefined || !isToolAllowed(options, name) ? undefined : name;
}

/** A call that was cut off together with what said it was never answered: the agent does not know of it. */
function toAnsweredToolCall({ toolCall, result, ending }: ToolRun): AnsweredToolCall[] {
  if (toolCall === null || result === undefined || ending === "cancelled") return [];
  return [{ toolCall, result }];
}
