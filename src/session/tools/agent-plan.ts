import {
  toPlanEntries,
  type HarnPlan,
  type HarnPlanContent,
} from "../../domain/outputs/harn-plan.ts";
import type { PlanEntry, PlanStatus } from "../../domain/outputs/plan.ts";
import { digestValue } from "../../platform/digest.ts";
import type { Decision } from "../decision.ts";

/** Replaces the agent's plan by entries. */
export function updatePlan(decision: Decision, entries: readonly PlanEntry[]): void {
  decision.emit({ type: "plan.updated", entries });
}

/** Replaces the agent's plan. */
export function emitPlan(decision: Decision, content: HarnPlanContent): void {
  decision.emit({
    type: "plan.updated",
    entries: toPlanEntries(content),
    plan: addPlanId(content),
  });
}

/** Marks entries in progress as pending when the turn ends. */
export function pausePlan(decision: Decision): void {
  const { plan, planDetails } = decision.state.tools;
  if (!plan.some(isInProgress)) return;
  if (planDetails === null) return updatePlan(decision, plan.map(pause));
  const { id: _, ...content } = planDetails;
  emitPlan(decision, { ...content, steps: content.steps.map(pause) });
}

function addPlanId(content: HarnPlanContent): HarnPlan {
  return { ...content, id: `plan_${digestValue(content).slice(0, ID_DIGITS)}` };
}

const ID_DIGITS = 12;

function isInProgress({ status }: { readonly status: PlanStatus }): boolean {
  return status === "in_progress";
}

function pause<Entry extends { readonly status: PlanStatus }>(entry: Entry): Entry {
  return isInProgress(entry) ? { ...entry, status: "pending" } : entry;
}
