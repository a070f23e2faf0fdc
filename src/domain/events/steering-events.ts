import type { PromptPart } from "../prompt.ts";
import type { Reminder } from "../reminder.ts";

/**
 * Events of the slice `steering`: messages and reminders which wait for an injection point. A delivered message is the
 * turn's `message.sent` with the same id.
 */
export type SteeringEvent =
  | InjectAccepted
  | InjectReplaced
  | InjectRevoked
  | ReminderQueued
  | ReminderReplaced
  | ReminderRevoked
  | ReminderEmitted
  | ReminderRecorded
  | ReminderExpired;

export interface InjectAccepted {
  readonly type: "inject.accepted";
  readonly messageId: string;
  readonly mode: InjectMode;
  readonly content: readonly PromptPart[];
}

/** `steer`: the next injection point of the running turn. `queue`: a separate turn after the running turn. */
export type InjectMode = "steer" | "queue";

/** The message keeps its id, its mode and its place in the queue. */
export interface InjectReplaced {
  readonly type: "inject.replaced";
  readonly messageId: string;
  readonly content: readonly PromptPart[];
}

export interface InjectRevoked {
  readonly type: "inject.revoked";
  readonly messageId: string;
}

export interface ReminderQueued {
  readonly type: "reminder.queued";
  readonly reminderId: string;
  readonly reminder: Reminder;
}

/** Another reminder with the same key, or rendered with the same text, took the place of a pending reminder. */
export interface ReminderReplaced {
  readonly type: "reminder.replaced";
  readonly reminderId: string;
  readonly by: string;
}

export interface ReminderRevoked {
  readonly type: "reminder.revoked";
  readonly reminderId: string;
}

/** The reminder is part of the next request to the model. Precedes its `invocation.started`. */
export interface ReminderEmitted {
  readonly type: "reminder.emitted";
  readonly reminderId: string;
  readonly reminder: Reminder;
  /** The role of the message which carries the text. */
  readonly renderedRole: "user";
  /** Turns until the reminder expires, including the running one. Absent: it does not expire. */
  readonly turnsLeft?: number;
}

/** A reminder with the mode `audit_only` became part of the transcript, at the end of a turn. */
export interface ReminderRecorded {
  readonly type: "reminder.recorded";
  readonly reminderId: string;
  readonly reminder: Reminder;
}

export interface ReminderExpired {
  readonly type: "reminder.expired";
  readonly reminderId: string;
  readonly reason: "ttl";
}
