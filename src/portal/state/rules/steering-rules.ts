import type { Envelope } from "../../../domain/events/envelope.ts";
import type {
  ReminderEmitted,
  ReminderRecorded,
  SteeringEvent,
} from "../../../domain/events/steering-events.ts";
import type { ViewDraft } from "../view-draft.ts";
import type { ViewRules } from "../view-rules.ts";
import { takeFromQueue } from "./turn-rules.ts";

export const STEERING_RULES: ViewRules<SteeringEvent> = {
  "inject.accepted": (draft, { messageId, mode, content }, { at, actor }) => {
    const principal = actor?.principal ?? null;
    const item = { kind: "message", id: messageId, mode, content, principal, at } as const;
    draft.view.queue = [...draft.view.queue, item];
  },
  "inject.replaced": (draft, { messageId, content }) => {
    draft.view.queue = draft.view.queue.map((item) =>
      item.kind === "message" && item.id === messageId ? { ...item, content } : item,
    );
  },
  "inject.revoked": (draft, { messageId }) => takeFromQueue(draft, messageId),
  "reminder.queued": (draft, { reminderId, reminder }, { at, actor }) => {
    const principal = actor?.principal ?? null;
    const item = { kind: "reminder", id: reminderId, reminder, principal, at } as const;
    draft.view.queue = [...draft.view.queue, item];
  },
  "reminder.replaced": (draft, { reminderId }) => takeFromQueue(draft, reminderId),
  "reminder.revoked": (draft, { reminderId }) => takeFromQueue(draft, reminderId),
  "reminder.emitted": showReminder,
  "reminder.recorded": showReminder,
  "reminder.expired": (draft, { reminderId }) => takeFromQueue(draft, reminderId),
};

function showReminder(
  draft: ViewDraft,
  { reminderId, reminder }: ReminderEmitted | ReminderRecorded,
  { at, seq }: Envelope,
): void {
  takeFromQueue(draft, reminderId);
  // A reminder with a lifetime of several turns is emitted once per turn.
  draft.addItem({ kind: "reminder", key: `reminder:${seq}`, at, seq, reminderId, reminder });
}
