import type { AgentSpec } from "../../domain/agent-spec.ts";
import type { PromptOptions } from "../../domain/prompt.ts";
import type { AnsweredToolCall, TurnProgress } from "../../providers/provider.ts";
import type { ToolRun } from "../tools/tools-state.ts";
import { isToolAllowed } from "../turn-options.ts";
import type { CurrentTurn } from "./turn-state.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/** Returns the progress of the turn at the start of an invocation, which already counts as a step. */
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

/**
 * Returns the terminal tool if the turn must still call it. Undefined if it has succeeded or is not allowed in this
 * turn.
 */
export function findMissingTerminalTool(
  runs: readonly ToolRun[],
  { terminalTool }: AgentSpec,
  options: PromptOptions | null,
): string | undefined {
  const name = terminalTool?.name;
  const hasSucceeded = runs.some((run) => run.name === name && run.ending === "succeeded");
  return hasSucceeded || name === undefined || !isToolAllowed(options, name) ? undefined : name;
}

/** Excludes cancelled calls: they were cut off with their message, so the agent does not know them. */
function toAnsweredToolCall({ toolCall, result, ending }: ToolRun): AnsweredToolCall[] {
  if (toolCall === null || result === undefined || ending === "cancelled") return [];
  return [{ toolCall, result }];
}
