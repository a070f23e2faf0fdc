import type { PlanEntry, PlanPriority, PlanStatus } from "../../domain/outputs/plan.ts";

/** An entry of a plan in the form of ACP, which the bridge protocol uses on every surface. */
export interface WirePlanEntry {
  readonly content: string;
  readonly status: WirePlanStatus;
  readonly priority: PlanPriority;
  /** Holds a status which ACP does not have. */
  readonly _meta?: { readonly harn: { readonly status: PlanStatus } };
}

type WirePlanStatus = "pending" | "in_progress" | "completed";

export function encodePlanEntry({ content, status, priority }: PlanEntry): WirePlanEntry {
  const wireStatus = STATUSES[status];
  const statusMeta = wireStatus === status ? {} : { _meta: { harn: { status } } };
  return { content, status: wireStatus, priority, ...statusMeta };
}

/** A blocked entry is still pending. A cancelled entry needs no more work, so it counts as completed. */
const STATUSES: { readonly [Status in PlanStatus]: WirePlanStatus } = {
  pending: "pending",
  in_progress: "in_progress",
  completed: "completed",
  blocked: "pending",
  cancelled: "completed",
};
