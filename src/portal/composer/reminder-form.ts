import type { ReminderMode } from "../../domain/reminder.ts";
import { randomWebHex } from "../../platform/web-random.ts";
import type { OutgoingReminder } from "../state/session-actions.ts";
import type { QueuedItem } from "../state/session-view.ts";

export const REMINDER_MODE_TEXTS: {
  readonly [Mode in ReminderMode]: { readonly name: string; readonly description: string };
} = {
  interrupt_immediate: {
    name: "Interrupt",
    description: "Skips tool calls which have not started, and extends a turn which would end",
  },
  finish_step: {
    name: "With the next step",
    description: "Waits for the next request to the model",
  },
  audit_only: {
    name: "Record only",
    description: "Is written to the transcript; the agent never sees it",
  },
};

export interface ReminderForm {
  readonly mode: ReminderMode;
  /** As typed: separated by commas or spaces. */
  readonly tags: string;
}

export const INITIAL_REMINDER: ReminderForm = { mode: "finish_step", tags: "" };

const MAX_TAGS = 10;
const MAX_TAG_LENGTH = 64;

export type ReminderResult =
  | { readonly ok: true; readonly reminder: Omit<OutgoingReminder, "dedupeKey"> }
  | { readonly ok: false; readonly problem: string };

export function readReminder(body: string, { mode, tags: typed }: ReminderForm): ReminderResult {
  const tags = [...new Set(typed.split(/[\s,]+/).filter((tag) => tag !== ""))];
  if (tags.length > MAX_TAGS)
    return { ok: false, problem: `A reminder has at most ${MAX_TAGS} tags` };
  const long = tags.find((tag) => tag.length > MAX_TAG_LENGTH);
  if (long !== undefined)
    return {
      ok: false,
      problem: `The tag ${long.slice(0, 20)}… is longer than ${MAX_TAG_LENGTH} characters`,
    };
  return { ok: true, reminder: { body, mode, ...(tags.length > 0 && { tags }) } };
}

/** Marks the reminders of the portal. Their other settings are defaults, so a page can send them again. */
const KEY_PREFIX = "portal:";

/** A new reminder gets a key, under which the reminder can be replaced while it waits. */
export function createReminderKey(): string {
  return `${KEY_PREFIX}${randomWebHex(16)}`;
}

/** The reminder with another text. Undefined if this principal has not sent the reminder from a portal. */
export function editReminder(
  { reminder, principal }: Extract<QueuedItem, { readonly kind: "reminder" }>,
  ownPrincipal: string | null,
): ((body: string) => OutgoingReminder) | undefined {
  const { dedupeKey, mode, tags } = reminder;
  const isOwn = principal !== null && principal === ownPrincipal;
  if (!isOwn || dedupeKey?.startsWith(KEY_PREFIX) !== true) return undefined;
  return (body) => ({ body, mode, tags, dedupeKey });
}
