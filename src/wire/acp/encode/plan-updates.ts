import type { PlanUpdated } from "../../../domain/events/tool-events.ts";
import type { Emit } from "../../../domain/codec.ts";
import { fitObject, fits, fitText, LINE_MARGIN } from "../fit-json.ts";
import { encodePlanEntry } from "../../bridge/plan-entry.ts";
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
