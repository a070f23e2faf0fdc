import type { TurnOutcome } from "../../domain/events/turn-events.ts";
import type { Failure } from "../../domain/errors.ts";
import { resolveWithoutDecision } from "../approvals/approval-requests.ts";
import { dropHostRequests } from "../clients/host-requests.ts";
import { finishTool } from "../tools/finish-tool.ts";
import { pausePlan } from "../tools/agent-plan.ts";
import { isHandedOut, isOpen } from "../tools/tools-state.ts";
import { cancelWorkersOfTurn } from "../tools/worker-calls.ts";
import type { Decision } from "../decision.ts";
import { settleReminders } from "../steering/render-reminders.ts";
import type { CurrentTurn } from "./turn-state.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

interface TurnResult {
  readonly outcome: TurnOutcome;
  readonly reason: string | null;
  readonly failure?: Failure;
}

/** Finishes a turn, after closing its approval requests and tool calls. */
export function finishTurn(decision: Decision, { turnId }: CurrentTurn, result: TurnResult): void {
  const { outcome, reason, failure } = result;
  cancelWorkersOfTurn(decision, { turnId, isCancelled: outcome === "cancelled" });
  for (const request of decision.state.approvals.pending) {
    // The requests of workers end with their worker.
    if (request.worker === undefined) resolveWithoutDecision(decision, request, "cancel");
  }
  for (const run of decision.state.tools.runs) {
    if (!isOpen(run)) continue;
    const why = outcome === "cancelled" ? "the turn was cancelled" : "the turn ended before";
    const wasStarted = run.attempt > 0;
    const text = isHandedOut(run)
      ? `No result of ${run.name} arrived: ${why}. It is unknown whether it ran.`
      : wasStarted
        ? `${run.name} was stopped: ${why}. Its effects so far are unknown.`
        : `${run.name} was not run: ${why}.`;
    const ending = wasStarted && outcome !== "cancelled" ? "unknown" : "cancelled";
    finishTool(decision, run, { ending, text });
  }
  const { tools, clients, steering } = decision.state;
  if (tools.plan.length > 0) pausePlan(decision);
  // Only tools request actions from hosts, and no tool is left running.
  if (clients.requests.length > 0) dropHostRequests(decision);
  if (steering.pending.length > 0) settleReminders(decision);
  const { usage, steps } = decision.state.turn.current ?? { usage: null, steps: 0 };
  decision.emit({
    type: "turn.finished",
    turnId,
    outcome,
    reason,
    usage,
    steps,
    ...omitUndefined({ failure }),
  });
}
