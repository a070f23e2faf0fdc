import type { PlanEntry } from "../../domain/plan.ts";
import type { Decision } from "../decision.ts";

/** The agent's plan is this from now on. */
export function updatePlan(decision: Decision, entries: readonly PlanEntry[]): void {
  decision.emit({ type: "plan.updated", entries });
}

/** Nobody works on anything any more: what was under way is still to be done. */
export function pausePlan(decision: Decision): void {
  const { plan } = decision.state.tools;
  if (!plan.some(isInProgress)) return;
  updatePlan(
    decision,
    plan.map((entry) => (isInProgress(entry) ? { ...entry, status: "pending" } : entry)),
  );
}

function isInProgress({ status }: PlanEntry): boolean {
  return status === "in_progress";
}
