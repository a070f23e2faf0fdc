import { resolveWithoutDecision } from "./approvals/approval-requests.ts";
import { expireHostRequests } from "./clients/host-requests.ts";
import { expireWaitingCalls } from "./tools/host-waits.ts";
import { finishTool, formatNotRun, formatUnknownOutcome } from "./tools/finish-tool.ts";
import { findRun } from "./tools/tools-state.ts";
import { expirePausedTurn } from "./turn/paused-turn.ts";
import type { Decision } from "./decision.ts";

/** What nobody answered in time is answered by its deadline, and never with a yes. */
export function applyDeadlines(decision: Decision): void {
  expireWaitingCalls(decision);
  for (const request of decision.state.approvals.pending) {
    const { question, subjectId, deadline } = request;
    if (deadline > decision.at) continue;
    resolveWithoutDecision(decision, request, "deadline");
    if (question !== "lost-call") closeExpiredTool(decision, subjectId, question);
  }
  expirePausedTurn(decision);
  expireHostRequests(decision);
}

function closeExpiredTool(
  decision: Decision,
  toolCallId: string,
  question: "run" | "outcome",
): void {
  const run = findRun(decision.state.tools, toolCallId);
  if (run === undefined) return;
  const [ending, text] =
    question === "run"
      ? (["denied", `${formatNotRun(run)}: nobody approved it in time.`] as const)
      : (["unknown", formatUnknownOutcome(run)] as const);
  finishTool(decision, run, { ending, text });
}
