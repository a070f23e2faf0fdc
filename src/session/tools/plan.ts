import type { PlanEntry } from "../../domain/plan.ts";
import type { Work } from "../work.ts";

/** The agent's plan is this from now on. */
export function planned(work: Work, entries: readonly PlanEntry[]): void {
  work.emit({ type: "plan.updated", entries });
}

/** Nobody works on anything any more: what was under way is still to be done. */
export function restPlan(work: Work): void {
  const { plan } = work.state.tools;
  if (!plan.some(isUnderWay)) return;
  planned(
    work,
    plan.map((entry) => (isUnderWay(entry) ? { ...entry, status: "pending" } : entry)),
  );
}

function isUnderWay({ status }: PlanEntry): boolean {
  return status === "in_progress";
}
