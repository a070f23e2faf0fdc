import { listItems } from "../../data/chunked-list.ts";
import { REMINDER_AUTHORITIES, type Reminder } from "../../domain/reminder.ts";
import type { Decision } from "../decision.ts";
import { isReminder, type PendingReminder } from "./steering-state.ts";

/**
 * Emits the pending reminders for the next request to the model, and returns their text. Undefined without pending
 * reminders. All reminders share a single block of text, strongest authority first, so the part of the request before
 * the block stays unchanged for the provider's cache. Reminders with the same text are rendered once.
 */
export function renderReminders(decision: Decision): string | undefined {
  const waiting = listItems(decision.state.steering.pending)
    .filter(isReminder)
    .filter(({ reminder }) => reminder.mode !== "audit_only");
  if (waiting.length === 0) return undefined;
  const survivors = selectSurvivors(waiting);
  for (const { id: reminderId, reminder } of waiting) {
    const by = survivors.get(normalizeBody(reminder))?.id ?? reminderId;
    if (by !== reminderId) decision.emit({ type: "reminder.replaced", reminderId, by }, null);
  }
  const rendered = [...survivors.values()].toSorted(compareReminders);
  for (const { id: reminderId, reminder, turnsLeft } of rendered) {
    const lifetime = turnsLeft === null ? {} : { turnsLeft };
    const rendering = { reminderId, reminder, renderedRole: "user", ...lifetime } as const;
    decision.emit({ type: "reminder.emitted", ...rendering }, null);
  }
  const lines = rendered.map(({ reminder }) => formatReminder(reminder));
  return ["<system-reminder>", ...lines, "</system-reminder>"].join("\n");
}

/**
 * Returns the reminder to render for each text: the reminder with the strongest authority, or the latest of several.
 */
function selectSurvivors(waiting: readonly PendingReminder[]): Map<string, PendingReminder> {
  const survivors = new Map<string, PendingReminder>();
  for (const entry of waiting) {
    const text = normalizeBody(entry.reminder);
    const earlier = survivors.get(text);
    if (earlier === undefined || rank(entry) <= rank(earlier)) survivors.set(text, entry);
  }
  return survivors;
}

/** Orders by authority, then by acceptance. */
function compareReminders(first: PendingReminder, second: PendingReminder): number {
  return rank(first) - rank(second) || first.seq - second.seq;
}

/**
 * Ends the turn's share of the reminders: `audit_only` reminders become part of the transcript, and reminders in their
 * last turn expire. Called before `turn.finished`.
 */
export function settleReminders(decision: Decision): void {
  for (const { id: reminderId, reminder, turnsLeft } of listItems(
    decision.state.steering.pending,
  ).filter(isReminder)) {
    if (reminder.mode === "audit_only")
      decision.emit({ type: "reminder.recorded", reminderId, reminder }, null);
    else if (turnsLeft === 1)
      decision.emit({ type: "reminder.expired", reminderId, reason: "ttl" }, null);
  }
}

function rank({ reminder }: PendingReminder): number {
  return REMINDER_AUTHORITIES.indexOf(reminder.authority);
}

/** Texts which differ only in white space or case are the same text. */
function normalizeBody({ body }: Reminder): string {
  return body.trim().replaceAll(/\s+/g, " ").toLowerCase();
}

/** Escapes the tag of the block in bodies and tags. Otherwise a body could close the block and imitate the user. */
function formatReminder({ body, tags }: Reminder): string {
  const text = tags.length === 0 ? body.trim() : `[${tags.join(", ")}] ${body.trim()}`;
  return text.replaceAll(/<(?=\s*\/?\s*system-reminder)/gi, "&lt;");
}
