import {
  appendItem,
  findItem,
  listItems,
  mapItems,
  removeItem,
  type ChunkedList,
} from "../../data/chunked-list.ts";
import { toJsonText } from "../../data/json.ts";
import type { Actor } from "../../domain/actor.ts";
import type { Draft } from "../../domain/events/envelope.ts";
import type { SessionEvent } from "../../domain/events/session-event.ts";
import type { InjectMode, ReminderEmitted } from "../../domain/events/steering-events.ts";
import type { PromptPart } from "../../domain/prompt.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";
import { isPropagated, type Reminder } from "../../domain/reminder.ts";
import type { Usage } from "../../domain/usage.ts";
import { trackFile, updateFiles, type TrackedFile } from "./tracked-files.ts";

/** Messages and reminders which wait for an injection point, and the outcomes of the latest earlier injections. */
export interface SteeringState {
  /** In the order of their acceptance. */
  readonly pending: ChunkedList<PendingInjection>;
  /** Sum of the sizes of all pending injections (`measureInjection`). */
  readonly pendingCharacters: number;
  /** The most recent outcomes, oldest first. Older outcomes are only in the log. */
  readonly settled: readonly SettledInjection[];
  /** Size of the conversation, from the last report of the provider. */
  readonly usedTokens: number;
  /** Size of the conversation at the last reminder about token pressure, or a smaller size reported since. */
  readonly announcedTokens: number;
  /** Reminders for workers which the running turn has delivered to the agent. */
  readonly deliveredReminders: readonly Reminder[];
  /** Files which the agent has read or written, the latest last. */
  readonly files: readonly TrackedFile[];
}

export type PendingInjection = PendingMessage | PendingReminder;

export interface PendingMessage {
  readonly kind: "user";
  readonly id: string;
  /** Log position of its acceptance. */
  readonly seq: number;
  readonly mode: InjectMode;
  readonly content: readonly PromptPart[];
  readonly owner: Actor | null;
}

export interface PendingReminder {
  readonly kind: "reminder";
  readonly id: string;
  readonly seq: number;
  readonly reminder: Reminder;
  /** Turns until the reminder expires. Null: the reminder does not expire. */
  readonly turnsLeft: number | null;
  readonly owner: Actor | null;
}

export interface SettledInjection {
  readonly id: string;
  readonly outcome: "delivered" | "revoked";
}

export const initialSteering: SteeringState = {
  pending: [],
  pendingCharacters: 0,
  settled: [],
  usedTokens: 0,
  announcedTokens: 0,
  deliveredReminders: [],
  files: [],
};

/** Dedupe key of the runtime's reminder about the size of the conversation. */
export const TOKEN_PRESSURE_KEY = "token-pressure";

/** `seq`: log position of the event. */
export function evolveSteering(
  steering: SteeringState,
  { event, actor }: Draft,
  seq: number,
): SteeringState {
  const { pending } = steering;
  switch (event.type) {
    case "inject.accepted": {
      const { messageId: id, mode, content } = event;
      const message = { kind: "user", id, seq, mode, content, owner: actor ?? null } as const;
      return addPending(steering, message);
    }
    case "inject.replaced": {
      const { messageId, content } = event;
      const earlier = findItem(pending, ({ id }) => id === messageId);
      const replace = (entry: PendingInjection): PendingInjection =>
        entry === earlier && entry.kind === "user" ? { ...entry, content } : entry;
      const change =
        measureContent(content) - (earlier === undefined ? 0 : measureInjection(earlier));
      const pendingCharacters = steering.pendingCharacters + change;
      return { ...steering, pendingCharacters, pending: mapItems(pending, replace) };
    }
    case "reminder.queued": {
      const { reminderId: id, reminder } = event;
      const turnsLeft = reminder.ttlTurns ?? null;
      const owner = actor ?? null;
      const entry = { kind: "reminder", id, seq, reminder, turnsLeft, owner } as const;
      const isPressure =
        reminder.source === "stdlib_provider" && reminder.dedupeKey === TOKEN_PRESSURE_KEY;
      const announced = isPressure ? { announcedTokens: steering.usedTokens } : {};
      const files = updateFiles(steering.files, reminder);
      return addPending({ ...steering, ...announced, files }, entry);
    }
    case "tool.finished":
      return { ...steering, files: trackFile(steering.files, event) };
    case "usage.reported":
      return recordUsage(steering, event.usage);
    case "reminder.emitted":
      return settle(addDelivered(steering, event), { id: event.reminderId, outcome: "delivered" });
    case "turn.finished": {
      const isUnchanged = pending.length === 0 && steering.deliveredReminders.length === 0;
      if (isUnchanged) return steering;
      return { ...steering, pending: mapItems(pending, age), deliveredReminders: [] };
    }
    default: {
      const outcome = readInjectionOutcome(event);
      return outcome === undefined ? steering : settle(steering, outcome);
    }
  }
}

/** Returns the outcome of an injection if this event is its outcome. */
export function readInjectionOutcome(event: SessionEvent): SettledInjection | undefined {
  switch (event.type) {
    case "inject.revoked":
      return { id: event.messageId, outcome: "revoked" };
    case "message.sent":
      return event.origin === "inject" ? { id: event.messageId, outcome: "delivered" } : undefined;
    case "reminder.replaced":
    case "reminder.revoked":
    case "reminder.expired":
      return { id: event.reminderId, outcome: "revoked" };
    case "reminder.emitted":
    case "reminder.recorded":
      return { id: event.reminderId, outcome: "delivered" };
    default:
      return undefined;
  }
}

function addDelivered(steering: SteeringState, { reminder, turnsLeft }: ReminderEmitted) {
  if (!isPropagated(reminder)) return steering;
  const delivered = { ...reminder, ...omitUndefined({ ttlTurns: turnsLeft }) };
  const deliveredReminders = [...steering.deliveredReminders, delivered];
  return { ...steering, deliveredReminders: deliveredReminders.slice(-MAX_DELIVERED) };
}

/** Older reminders of a turn reach no further workers. */
const MAX_DELIVERED = 32;

/**
 * The reminders which a worker inherits at its start, in the order of their acceptance: delivered in the running turn, or
 * pending. `ttlTurns` is the rest of the lifetime.
 */
export function listInheritableReminders({
  deliveredReminders,
  pending,
}: SteeringState): readonly Reminder[] {
  const waiting = listItems(pending)
    .filter(isReminder)
    .filter(({ reminder }) => isPropagated(reminder))
    .map(({ reminder, turnsLeft }) =>
      turnsLeft === null ? reminder : { ...reminder, ttlTurns: turnsLeft },
    );
  return [...deliveredReminders, ...waiting];
}

function recordUsage(steering: SteeringState, usage: Usage): SteeringState {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  const usedTokens = inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
  const announcedTokens = Math.min(steering.announcedTokens, usedTokens);
  return usedTokens === 0 ? steering : { ...steering, usedTokens, announcedTokens };
}

function addPending(steering: SteeringState, entry: PendingInjection): SteeringState {
  const pendingCharacters = steering.pendingCharacters + measureInjection(entry);
  return { ...steering, pendingCharacters, pending: appendItem(steering.pending, entry) };
}

/** Returns the size of an injection in the state, in characters. Approximate: only the text counts exactly. */
function measureInjection(entry: PendingInjection): number {
  if (entry.kind === "user") return measureContent(entry.content);
  const { body, tags, metadata = {} } = entry.reminder;
  return ENTRY_CHARACTERS + body.length + tags.join().length + toJsonText(metadata).length;
}

function measureContent(content: readonly PromptPart[]): number {
  const texts = content.map((part) => (part.type === "text" ? part.text.length : 0));
  return texts.reduce((sum, length) => sum + length + ENTRY_CHARACTERS, 0);
}

/** Estimated size of the other fields of an injection. */
const ENTRY_CHARACTERS = 100;

/** Entries of `settled`. A request about an older injection is answered from the log. */
const MAX_SETTLED = 256;

function settle(steering: SteeringState, injection: SettledInjection): SteeringState {
  const { pending, settled, pendingCharacters } = steering;
  const entry = findItem(pending, ({ id }) => id === injection.id);
  const size = entry === undefined ? 0 : measureInjection(entry);
  return {
    ...steering,
    pending: entry === undefined ? pending : removeItem(pending, (one) => one === entry),
    pendingCharacters: pendingCharacters - size,
    settled: [...settled, injection].slice(-MAX_SETTLED),
  };
}

function isAging(entry: PendingInjection): entry is PendingReminder & { turnsLeft: number } {
  return entry.kind === "reminder" && entry.turnsLeft !== null;
}

function age(entry: PendingInjection): PendingInjection {
  return isAging(entry) ? { ...entry, turnsLeft: entry.turnsLeft - 1 } : entry;
}

export function isMessage(entry: PendingInjection): entry is PendingMessage {
  return entry.kind === "user";
}

export function isReminder(entry: PendingInjection): entry is PendingReminder {
  return entry.kind === "reminder";
}

/** Messages for the running turn. */
export function listSteers({ pending }: SteeringState): readonly PendingMessage[] {
  return listItems(pending)
    .filter(isMessage)
    .filter(({ mode }) => mode === "steer");
}

/** Whether a reminder asks for the next request to the model as soon as possible. */
export function hasInterrupt({ pending }: SteeringState): boolean {
  const isInterrupt = (entry: PendingInjection): boolean =>
    entry.kind === "reminder" && entry.reminder.mode === "interrupt_immediate";
  return findItem(pending, isInterrupt) !== undefined;
}
