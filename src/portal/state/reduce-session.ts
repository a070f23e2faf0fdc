import type { Envelope } from "../../domain/events/envelope.ts";
import type { EventOf, SessionEventType } from "../../domain/events/session-event.ts";
import { APPROVAL_RULES } from "./rules/approval-rules.ts";
import { ARTIFACT_RULES } from "./rules/artifact-rules.ts";
import { BUDGET_RULES, DAEMON_RULES } from "./rules/budget-rules.ts";
import { CLIENT_RULES } from "./rules/client-rules.ts";
import { LIFECYCLE_RULES } from "./rules/lifecycle-rules.ts";
import { noteNewerEvent } from "./rules/newer-event.ts";
import { STEERING_RULES } from "./rules/steering-rules.ts";
import { TOOL_RULES } from "./rules/tool-rules.ts";
import { TRANSCRIPT_RULES } from "./rules/transcript-rules.ts";
import { TURN_RULES } from "./rules/turn-rules.ts";
import { WORKER_RULES } from "./rules/worker-rules.ts";
import { WATCH_RULES } from "./rules/watch-rules.ts";
import type { SessionFold } from "./session-fold.ts";
import { ViewDraft } from "./view-draft.ts";
import type { ViewRules } from "./view-rules.ts";

/** A rule for every event. A new event is a compile error here until the table of its slice has a rule. */
const VIEW_RULES: ViewRules = {
  ...LIFECYCLE_RULES,
  ...TURN_RULES,
  ...TOOL_RULES,
  ...APPROVAL_RULES,
  ...CLIENT_RULES,
  ...STEERING_RULES,
  ...BUDGET_RULES,
  ...DAEMON_RULES,
  ...TRANSCRIPT_RULES,
  ...WORKER_RULES,
  ...ARTIFACT_RULES,
  ...WATCH_RULES,
};

/**
 * Applies consecutive events to a view. Events which the view already contains are skipped, so a repeated batch has no
 * effect. The result shares all unchanged turns and items with `before`, and is `before` itself if no event is new.
 */
export function reduceSession(before: SessionFold, envelopes: readonly Envelope[]): SessionFold {
  if (envelopes.every(({ seq }) => seq <= before.seq)) return before;
  const draft = new ViewDraft(before);
  for (const envelope of envelopes) {
    if (envelope.seq <= draft.view.seq) continue;
    applyRule(draft, envelope.event, envelope);
    draft.view.seq = envelope.seq;
    draft.view.updatedAt = envelope.at;
  }
  return draft.finish();
}

/** The type parameter ties an event to its rule. */
function applyRule<Type extends SessionEventType>(
  draft: ViewDraft,
  event: EventOf<Type> & { readonly type: Type },
  envelope: Envelope,
): void {
  if (!Object.hasOwn(VIEW_RULES, event.type)) return noteNewerEvent(draft, event.type, envelope);
  const rule: ViewRules[Type] = VIEW_RULES[event.type];
  if (typeof rule === "function") rule(draft, event, envelope);
}
