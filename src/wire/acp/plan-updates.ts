import type { PlanUpdated } from "../../domain/agent-event.ts";
import type { Emit } from "../../domain/codec.ts";
import type { PlanEntry, PlanStatus } from "../../domain/plan.ts";
import { fits, fittedText, LINE_MARGIN } from "./fitted.ts";
import type { PlanUpdateEntry } from "./session-update.ts";
import { tell, type AcpOutput, type UpdateState } from "./update-state.ts";

/** Every plan is the whole plan. */
export function tellPlan(
  state: UpdateState,
  { entries }: PlanUpdated,
  emit: Emit<AcpOutput>,
): void {
  const whole = entries.map(entryOf);
  const room = state.lineBytes - LINE_MARGIN;
  const shorter = Math.floor(room / whole.length) - ENTRY_MARGIN;
  const told = fits(whole, room)
    ? whole
    : whole.map((entry) => ({ ...entry, content: fittedText(entry.content, shorter) }));
  tell(state, { sessionUpdate: "plan", entries: told }, emit);
}

/** Bytes of an entry beside its text. */
const ENTRY_MARGIN = 140;

function entryOf({ content, status, priority }: PlanEntry): PlanUpdateEntry {
  const known = STATUSES[status];
  const own = known === status ? {} : { _meta: { harn: { status } } };
  return { content, status: known, priority, ...own };
}

/** What is blocked is still to be done; what was given up is not. */
const STATUSES: { readonly [Status in PlanStatus]: PlanUpdateEntry["status"] } = {
  pending: "pending",
  in_progress: "in_progress",
  completed: "completed",
  blocked: "pending",
  cancelled: "completed",
};
