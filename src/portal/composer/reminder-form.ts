import type { ReminderMode } from "../../domain/reminder.ts";
import type { OutgoingReminder } from "../state/session-actions.ts";

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
  | { readonly ok: true; readonly reminder: OutgoingReminder }
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
