import type { PlanEntry } from "../../domain/plan.ts";
import type { Decision } from "../decision.ts";

/** Replaces the agent's plan. */
export function updatePlan(decision: Decision, entries: readonly PlanEntry[]): void {
  decision.emit({ type: "plan.updated", entries });
}

/** Marks entries in progress as pending when the turn ends. */
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
