import {
  admitToolStart,
  countReservedStarts,
  countToolStarts,
} from "../budgets/admit-invocation.ts";
import { readAgentSpec, type Decision } from "../decision.ts";
import { advanceTools } from "../tools/advance-tools.ts";
import { isWaitingForAnswer } from "../tools/questions.ts";
import {
  isEvaluable,
  isHandedOut,
  isInProgress,
  isNeverStarted,
  isOpen,
  type ToolRun,
} from "../tools/tools-state.ts";
import { resolveToolCallLimit } from "../turn-options.ts";
import { finishTurn } from "./finish-turn.ts";
import type { InvocationRequest } from "./handle-lost-invocation.ts";
import { skipInterruptedTools } from "./injections.ts";
import { pauseTurn } from "./paused-turn.ts";
import type { CurrentTurn } from "./turn-state.ts";

/** Advances the tool calls of the turn, and starts the next invocation when all have their results. */
export function advanceToolCalls(
  decision: Decision,
  current: CurrentTurn,
  startInvocation: (request: InvocationRequest) => void,
): void {
  if ((decision.state.turn.upstream?.pendingToolCalls ?? null) === null) {
    const message = "The agent stopped for tool calls but named none";
    const failure = { code: "protocol_error", message, details: {} } as const;
    return finishTurn(decision, current, { outcome: "failed", reason: null, failure });
  }
  skipInterruptedTools(decision);
  const open = decision.state.tools.runs.filter(isOpen);
  const invalid =
    readAgentSpec(decision).invalidToolInput === "fail" ? open.find(hasInvalidInput) : undefined;
  if (invalid !== undefined) return finishTurn(decision, current, createInvalidInputEnd(invalid));
  if (open.length === 0) return startInvocation({ purpose: "results" });
  if (open.every(isHandedOut)) return pauseTurn(decision, current, open);
  const startLimit =
    resolveToolCallLimit(readAgentSpec(decision), current.options) - current.toolsStarted;
  const draftCount = decision.drafts.length;
  const starts = Math.min(startLimit, countToolStarts(decision));
  const unreserved = advanceTools(decision, { starts, reserved: countReservedStarts(decision) });
  if (decision.drafts.length > draftCount) return;
  if (startLimit > 0) return pauseAtToolBudget(decision, current, unreserved);
  if (open.some((run) => isWaitingForAnswer(decision, run))) return;
  if (open.filter((run) => !isHandedOut(run)).every(isNeverStarted)) {
    finishTurn(decision, current, { outcome: "limited", reason: "max_tool_calls" });
  }
}

/**
 * Asks if the next tool call exceeds a budget, and reserves calls in the shared budgets. Running tools continue, and
 * their results are part of the turn.
 */
function pauseAtToolBudget(decision: Decision, current: CurrentTurn, unreserved: number): void {
  const { runs } = decision.state.tools;
  const isWaiting = runs.some((run) => isEvaluable(run) && run.attempt === 0);
  if (!isWaiting || (countToolStarts(decision) > 0 && unreserved === 0)) return;
  const admission = admitToolStart(decision, unreserved);
  if (admission?.status !== "denied" || runs.some(isInProgress)) return;
  finishTurn(decision, current, { outcome: "limited", reason: admission.reason });
}

function hasInvalidInput({ toolCall }: ToolRun): boolean {
  return toolCall?.runBy === "client" && toolCall.inputError !== undefined;
}

function createInvalidInputEnd({ name, toolCallId, toolCall: call }: ToolRun) {
  const reason = call?.inputError?.message ?? "";
  const message = `The agent called ${name} with arguments that are not a JSON object: ${reason}`;
  const details = { tool: name, toolCallId };
  const failure = { code: "invalid_tool_input", message, details } as const;
  return { outcome: "failed", reason: null, failure } as const;
}
