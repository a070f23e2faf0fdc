import { countItems, findItem, listItems } from "../../data/chunked-list.ts";
import type { Actor } from "../../domain/actor.ts";
import { toJsonText } from "../../data/json.ts";
import {
  NOT_AUTHORIZED,
  type InjectionChange,
  type InjectionRefusal,
} from "../../domain/pending-injection.ts";
import type { PromptPart } from "../../domain/prompt.ts";
import type { Reminder } from "../../domain/reminder.ts";
import type { CommandReply, DeliveredAs, SessionCommand } from "../../domain/session-command.ts";
import type { Decision } from "../decision.ts";
import { refuse } from "../refuse-command.ts";
import { isMessage, type PendingInjection, type SettledInjection } from "./steering-state.ts";

type SteeringCommand<Type extends SessionCommand["type"]> = Extract<
  SessionCommand<PromptPart>,
  { readonly type: Type }
>;

/** The sender of a command, and whether the sender may change the injections of others. */
export interface InjectionSender {
  readonly actor: Actor;
  readonly mayControl: boolean;
}

/** Accepts a message. The caller has checked its content. */
export function acceptInject(
  decision: Decision,
  { mode, content }: SteeringCommand<"inject">,
  deliveredAs: DeliveredAs,
): CommandReply {
  const full = checkCapacity(decision, content);
  if (full !== undefined) return full;
  const messageId = decision.ids.next("msg_inj");
  decision.emit({ type: "inject.accepted", messageId, mode, content });
  return { status: "accepted", messageId, deliveredAs, seq: decision.state.seq };
}

export function replaceInject(
  decision: Decision,
  command: SteeringCommand<"replace-inject">,
  sender: InjectionSender,
): CommandReply {
  const refusal = checkChange(decision, command, sender);
  if (refusal !== undefined) return refusal;
  const { messageId, content } = command;
  const tooLarge = checkSize(decision, content);
  if (tooLarge !== undefined) return tooLarge;
  decision.emit({ type: "inject.replaced", messageId, content });
  return { status: "accepted", messageId, injectionStatus: "replaced" };
}

export function revokeInject(
  decision: Decision,
  command: SteeringCommand<"revoke-inject">,
  sender: InjectionSender,
): CommandReply {
  const reply = checkChange(decision, command, sender);
  if (reply !== undefined) return reply;
  const { messageId } = command;
  decision.emit({ type: "inject.revoked", messageId });
  return { status: "accepted", messageId, injectionStatus: "revoked" };
}

/** Queues a reminder. A pending reminder of the same sender with the same key is replaced. */
export function queueReminder(
  decision: Decision,
  { reminder, reminderId: chosenId }: SteeringCommand<"remind">,
  actor: Actor,
): CommandReply {
  const full = checkCapacity(decision, [reminder]);
  if (full !== undefined) return full;
  if (chosenId !== undefined && isKnownId(decision, chosenId)) {
    const message = "This session already has an injection with this id. Fix: choose another id";
    return refuse("conflict", message, { reason: "reminder_id_in_use" });
  }
  const reminderId = chosenId ?? decision.ids.next("rem");
  const { dedupeKey } = reminder;
  if (dedupeKey !== undefined) {
    const isSame = (entry: PendingInjection): boolean =>
      entry.kind === "reminder" &&
      entry.reminder.dedupeKey === dedupeKey &&
      entry.reminder.source === reminder.source &&
      isOwner(entry, actor);
    const earlier = findItem(decision.state.steering.pending, isSame);
    if (earlier !== undefined)
      decision.emit({ type: "reminder.replaced", reminderId: earlier.id, by: reminderId });
  }
  decision.emit({ type: "reminder.queued", reminderId, reminder });
  return { status: "accepted", reminderId, seq: decision.state.seq };
}

/** Queues the reminders which the session of a worker inherits at its start. */
export function queueInherited(decision: Decision, reminders: readonly Reminder[]): void {
  for (const reminder of reminders)
    decision.emit({ type: "reminder.queued", reminderId: decision.ids.next("rem"), reminder });
}

function isKnownId({ state }: Decision, id: string): boolean {
  const { pending, settled } = state.steering;
  return [...listItems(pending), ...settled].some((known) => known.id === id);
}

export function revokeReminder(
  decision: Decision,
  command: SteeringCommand<"revoke-reminder">,
  sender: InjectionSender,
): CommandReply {
  const reply = checkChange(decision, command, sender);
  if (reply !== undefined) return reply;
  const { reminderId } = command;
  decision.emit({ type: "reminder.revoked", reminderId });
  return { status: "accepted", reminderId, injectionStatus: "revoked" };
}

/**
 * Returns the reply for an injection which cannot be changed: delivered, revoked, unknown or owned by another client.
 * Undefined if the change is allowed.
 */
function checkChange(
  { state }: Decision,
  command: InjectionChange<PromptPart>,
  sender: InjectionSender,
): CommandReply | undefined {
  const id = readChangedId(command);
  const { pending, settled } = state.steering;
  const kind = command.type === "revoke-reminder" ? "reminder" : "user";
  const entry = findItem(pending, (waiting) => waiting.id === id && waiting.kind === kind);
  if (entry !== undefined) {
    if (isOwner(entry, sender.actor) || sender.mayControl) return undefined;
    const message =
      "Another client sent this injection. Fix: take over the session, or ask the sender";
    return refuseRace(NOT_AUTHORIZED, message);
  }
  const outcome = settled.findLast((earlier) => earlier.id === id)?.outcome;
  return outcome === undefined
    ? refuseRace("unknown_message_id", "This session has no injection with this id")
    : replyToLateChange(command, outcome);
}

export function readChangedId(command: InjectionChange<PromptPart>): string {
  return command.type === "revoke-reminder" ? command.reminderId : command.messageId;
}

/** Replies to a change of an injection which already has an outcome. */
export function replyToLateChange(
  command: InjectionChange<PromptPart>,
  outcome: SettledInjection["outcome"],
): CommandReply {
  if (outcome === "delivered")
    return refuseRace(
      "already_delivered",
      "The agent already has this injection, so no change is possible",
    );
  if (command.type === "replace-inject")
    return refuseRace("already_revoked", "The message was revoked and cannot be replaced");
  const { type: _, ...reference } = command;
  return { status: "accepted", ...reference, injectionStatus: "already_revoked" };
}

function refuseRace(reason: InjectionRefusal, message: string) {
  return refuse(REFUSAL_CODES[reason], message, { reason });
}

const REFUSAL_CODES = {
  already_delivered: "conflict",
  already_revoked: "conflict",
  unknown_message_id: "not_found",
  not_owner_or_not_authorized: "access_denied",
} as const;

/**
 * A sender owns the injections with the same client id and the same principal. Without a client id, the principal alone
 * decides.
 */
function isOwner({ owner }: PendingInjection, actor: Actor): boolean {
  if (owner === null) return false;
  return owner.clientId === actor.clientId && owner.principal === actor.principal;
}

function checkCapacity(decision: Decision, added: readonly unknown[]): CommandReply | undefined {
  if (countItems(decision.state.steering.pending) < MAX_PENDING) return checkSize(decision, added);
  const message = `${MAX_PENDING} injections are already pending. Fix: wait for the agent, or revoke some`;
  return refuse("conflict", message, { reason: "queue_full" });
}

function checkSize({ state }: Decision, added: readonly unknown[]): CommandReply | undefined {
  const size = toJsonText(added).length;
  if (size > MAX_CHARACTERS) {
    const message = `The content has more than ${MAX_CHARACTERS} characters. Fix: make it shorter`;
    return refuse("invalid_message", message, { path: "content" });
  }
  if (state.steering.pendingCharacters + size <= MAX_TOTAL_CHARACTERS) return undefined;
  const message = `The pending injections would have more than ${MAX_TOTAL_CHARACTERS} characters together. Fix: wait for the agent, or revoke some`;
  return refuse("conflict", message, { reason: "queue_full" });
}

const MAX_PENDING = 10_000;
/** Limit of all pending injections together. */
const MAX_TOTAL_CHARACTERS = 16 * 1024 * 1024;
/**
 * Maximum size of an injection as JSON, in characters. Every pending injection is part of the state and of its
 * snapshots.
 */
const MAX_CHARACTERS = 1024 * 1024;

/** Revokes every pending message. Reminders stay: they start no turn. */
export function revokeAllMessages(decision: Decision): void {
  for (const entry of listItems(decision.state.steering.pending))
    if (isMessage(entry)) decision.emit({ type: "inject.revoked", messageId: entry.id });
}
