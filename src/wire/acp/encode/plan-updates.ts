import type { PlanUpdated } from "../../../domain/events/tool-events.ts";
import type { Emit } from "../../../domain/codec.ts";
import type { PlanEntry, PlanStatus } from "../../../domain/outputs/plan.ts";
import { fitObject, fits, fitText, LINE_MARGIN } from "../fit-json.ts";
import type { PlanUpdateEntry } from "./acp-session-update.ts";
import { emitUpdate, type AcpOutput, type UpdateState } from "./update-state.ts";

/**
 * Emits the whole plan. Long entries are shortened until the plan fits into a line; entries are never dropped. The plan
 * behind the entries is for hosts, and takes at most half of a line.
 */
export function encodePlanUpdated(
  state: UpdateState,
  { entries, plan }: PlanUpdated,
  emit: Emit<AcpOutput>,
): void {
  const encodedEntries = entries.map(encodePlanEntry);
  const maxBytes = (state.lineBytes - LINE_MARGIN) / (plan === undefined ? 1 : 2);
  const shorter = Math.floor(maxBytes / encodedEntries.length) - ENTRY_MARGIN;
  const fittedEntries = fits(encodedEntries, maxBytes)
    ? encodedEntries
    : encodedEntries.map((entry) => ({ ...entry, content: fitText(entry.content, shorter) }));
  const meta = plan === undefined ? {} : { _meta: { harn: { plan: fitObject(plan, maxBytes) } } };
  emitUpdate(state, { sessionUpdate: "plan", entries: fittedEntries, ...meta }, emit);
}

/** Bytes of an entry in addition to its text. */
const ENTRY_MARGIN = 140;

function encodePlanEntry({ content, status, priority }: PlanEntry): PlanUpdateEntry {
  const acpStatus = STATUSES[status];
  const statusMeta = acpStatus === status ? {} : { _meta: { harn: { status } } };
  return { content, status: acpStatus, priority, ...statusMeta };
}

/** A blocked entry is still pending. A cancelled entry needs no more work, so it counts as completed. */
const STATUSES: { readonly [Status in PlanStatus]: PlanUpdateEntry["status"] } = {
  pending: "pending",
  in_progress: "in_progress",
  completed: "completed",
  blocked: "pending",
  cancelled: "completed",
};
