import { listItems } from "../../data/chunked-list.ts";
import type { AgentSpec } from "../../domain/agent-spec.ts";
import type { Reminder } from "../../domain/reminder.ts";
import { cutText } from "../../text/cut-text.ts";
import { readAgentSpec, type Decision } from "../decision.ts";
import { TOKEN_PRESSURE_KEY } from "./steering-state.ts";
import { CHANGED_FILES_KEY } from "./tracked-files.ts";

/**
 * Queues a reminder about a filling context window for the next request to the model. The reminder follows from logged
 * facts alone.
 */
export function queueTokenPressure(decision: Decision, contextTokens: number): void {
  const { usedTokens, announcedTokens } = decision.state.steering;
  if (!readReminderSettings(readAgentSpec(decision)).tokenPressure) return;
  const level = findPressureLevel(usedTokens, contextTokens);
  if (level <= findPressureLevel(announcedTokens, contextTokens)) return;
  queueRuntimeReminder(decision, {
    body:
      `The conversation fills ${level} % or more of the context window: ` +
      `${usedTokens} of ${contextTokens} tokens. Keep output short and finish soon.`,
    tags: ["token_pressure"],
    dedupeKey: TOKEN_PRESSURE_KEY,
    roleHint: "developer",
    ttlTurns: 2,
  });
}

/** Percent of the context window. Each level is announced once, and again after the conversation has become shorter. */
const PRESSURE_LEVELS = [95, 85, 70] as const;

function findPressureLevel(tokens: number, contextTokens: number): number {
  return PRESSURE_LEVELS.find((level) => tokens * 100 >= level * contextTokens) ?? 0;
}

/** Queues a reminder about a tool call which an approver denied. */
export function queueDenial(
  decision: Decision,
  { name, reason }: { readonly name: string; readonly reason?: string | undefined },
): void {
  if (!readReminderSettings(readAgentSpec(decision)).deniedApproval) return;
  const why = reason === undefined ? "" : ` The reason given: ${cutText(reason, MAX_REASON)}`;
  queueRuntimeReminder(decision, {
    body: `An approver denied ${name}.${why} Do not reach the same effect with another tool; ask, or change the plan.`,
    tags: ["denied_approval"],
    dedupeKey: `denied-approval/${name}`,
    roleHint: "system",
    ttlTurns: 2,
  });
}

const MAX_REASON = 2000;

/** Queues a reminder about files which changed since the agent's last read or write. Each change is announced once. */
export function queueChangedFiles(decision: Decision): void {
  const { files: tracked } = decision.state.steering;
  const files = decision.changedFiles.filter(({ path, sha256 }) =>
    tracked.some((file) => file.path === path && file.sha256 !== sha256),
  );
  if (files.length === 0) return;
  const names = files.slice(0, MAX_NAMED_FILES).map(({ path, sha256 }) => {
    const name = JSON.stringify(path);
    return sha256 === null ? `${name} (deleted)` : name;
  });
  const rest = files.length > names.length ? ` and ${files.length - names.length} more` : "";
  queueRuntimeReminder(decision, {
    body: `Files changed on the disk since you last read or wrote them: ${names.join(", ")}${rest}. Read them again before you use or edit them.`,
    tags: ["changed_files"],
    dedupeKey: CHANGED_FILES_KEY,
    roleHint: "system",
    ttlTurns: 1,
    metadata: { files: files.map(({ path, sha256 }) => ({ path, sha256 })) },
  });
}

const MAX_NAMED_FILES = 20;

/** Queues a reminder about files which the agent watches. A newer reminder replaces a pending one. */
export function queueWatchedChanges(
  decision: Decision,
  subscriptionId: string,
  changes: string,
): void {
  queueRuntimeReminder(decision, {
    body: `Files which you watch (${subscriptionId}) have changed: ${JSON.stringify(cutText(changes, MAX_CHANGES_LENGTH))}. Earlier changes since your last step may exist.`,
    tags: ["watched_files"],
    dedupeKey: `watch/${subscriptionId}`,
    roleHint: "system",
    ttlTurns: 2,
  });
}

const MAX_CHANGES_LENGTH = 4000;

/**
 * The settings of an agent with their defaults. `deniedApproval` is off by default, because the result of a denied tool
 * call contains the reason.
 */
export function readReminderSettings({
  reminders = {},
}: AgentSpec): Required<NonNullable<AgentSpec["reminders"]>> {
  return { tokenPressure: true, changedFiles: true, deniedApproval: false, ...reminders };
}

type RuntimeReminder = Pick<Reminder, "body" | "tags" | "roleHint" | "metadata"> & {
  readonly dedupeKey: string;
  readonly ttlTurns?: number;
  /** Wakes an idle daemon. Default: false. */
  readonly isWaking?: boolean;
};

/** Queues a reminder of the runtime, which replaces a pending reminder of the runtime with the same key. */
export function queueRuntimeReminder(
  decision: Decision,
  { isWaking = false, ...fields }: RuntimeReminder,
): void {
  const reminderId = decision.ids.next("rem");
  for (const entry of listItems(decision.state.steering.pending)) {
    if (entry.kind !== "reminder" || entry.reminder.source !== "stdlib_provider") continue;
    if (entry.reminder.dedupeKey === fields.dedupeKey)
      decision.emit({ type: "reminder.replaced", reminderId: entry.id, by: reminderId }, null);
  }
  const isDaemon = readAgentSpec(decision).daemon !== undefined;
  const wakes = isWaking && isDaemon && decision.state.turn.current === null;
  const reminder: Reminder = {
    // A reminder of the runtime is about this session.
    propagate: "none",
    ...fields,
    mode: wakes ? "interrupt_immediate" : "finish_step",
    authority: "advisory",
    source: "stdlib_provider",
  };
  decision.emit({ type: "reminder.queued", reminderId, reminder }, null);
}
