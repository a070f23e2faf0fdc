import type { JsonObject } from "../data/json.ts";

/**
 * Context for the agent which is not a message of the user, such as "the workspace changed". The session renders it into
 * a request to the model; clients see it as a reminder.
 */
export interface Reminder {
  readonly body: string;
  readonly tags: readonly string[];
  readonly mode: ReminderMode;
  /** A newer reminder with the same key replaces a pending one. */
  readonly dedupeKey?: string;
  /** Number of turns after whose end the reminder expires. Absent: it does not expire. */
  readonly ttlTurns?: number;
  readonly roleHint: ReminderRole;
  readonly authority: ReminderAuthority;
  /** Origin: a host, or the runtime itself. */
  readonly source: ReminderSource;
  /** A compaction repeats the reminder after its summary. Default: false. */
  readonly preserveOnCompact?: true;
  /** The host marks the reminder as the goal of the session. Recorded only. Default: false. */
  readonly goalPin?: true;
  /** Which workers of the session receive a copy: all levels below, the session's own workers, or none. */
  readonly propagate: ReminderPropagation;
  /** Id of the session which received the reminder first. Set if a worker has inherited the reminder. */
  readonly originatingAgentId?: string;
  /** Turn in which the host created the reminder, as counted by the host. */
  readonly firedAtTurn?: number;
  /** Data of the host under `_meta`. The session does not interpret it. */
  readonly metadata?: JsonObject;
}

/**
 * - `interrupt_immediate`: skips tool calls which have not started, and extends a turn which would end.
 * - `finish_step`: waits for the next request to the model, and causes none.
 * - `audit_only`: is written to the transcript at the end of a turn and never rendered.
 */
export const REMINDER_MODES = ["interrupt_immediate", "finish_step", "audit_only"] as const;
export type ReminderMode = (typeof REMINDER_MODES)[number];

export const REMINDER_ROLES = ["system", "developer", "user_block", "ephemeral_cache"] as const;
export type ReminderRole = (typeof REMINDER_ROLES)[number];

/** Strongest first: the order in which reminders are rendered. */
export const REMINDER_AUTHORITIES = ["contract", "corrective", "advisory"] as const;
export type ReminderAuthority = (typeof REMINDER_AUTHORITIES)[number];

export const REMINDER_PROPAGATIONS = ["all", "session", "none"] as const;
export type ReminderPropagation = (typeof REMINDER_PROPAGATIONS)[number];

/** `bridge`: a host. `stdlib_provider`: the runtime. `inherited`: the session which delegates. */
export type ReminderSource = "bridge" | "stdlib_provider" | "inherited";

/** Whether workers receive copies. A reminder with the mode `audit_only` reaches no model, so workers do not either. */
export function isPropagated({ propagate, mode }: Reminder): boolean {
  return propagate !== "none" && mode !== "audit_only";
}

/** The copy of a reminder for a worker. `sessionId`: the session which delegates. */
export function inheritReminder(reminder: Reminder, sessionId: string): Reminder {
  return {
    ...reminder,
    source: "inherited",
    propagate: reminder.propagate === "all" ? "all" : "none",
    originatingAgentId: reminder.originatingAgentId ?? sessionId,
  };
}
