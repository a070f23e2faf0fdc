import { requireRight, type Caller } from "../../http/access/caller.ts";
import type { SessionCommand } from "../../domain/session-command.ts";
import { digestValue } from "../../platform/digest.ts";
import type { Sender, Sessions } from "../../session/sessions.ts";
import { A2aError, createParamsError } from "../../wire/a2a/a2a-error.ts";
import { readDecision, type SentMessage } from "../../wire/a2a/read-message.ts";
import { MESSAGE_COMMAND } from "../../wire/a2a/task-encoder.ts";
import type { TaskFold } from "../../wire/a2a/task-state.ts";
import { isTerminalState } from "../../wire/a2a/task.ts";
import { createReusedIdError, toRefusal } from "./refusals.ts";
import { foldTask, type StoredTask } from "./stored-task.ts";

interface Continuation {
  readonly message: SentMessage;
  readonly caller: Caller;
}

/** Delivers a message to a task: the decision of an open request, or a message into the running turn. */
export async function continueTask(
  sessions: Sessions,
  stored: StoredTask,
  { message, caller }: Continuation,
): Promise<void> {
  const fold = await foldTask(sessions, stored);
  const commandId = createContinuationId(message);
  // The task may have moved on, or ended, since the message had its effect.
  if (fold.causes.has(commandId)) return;
  if (hasOtherMessage(fold, message)) throw createReusedIdError();
  if (isTerminalState(fold.status.state)) throw createEndedError(fold);
  if (fold.turnId === null) throw createQueuedError();
  const command = createCommand(fold, message, caller);
  const sender = { principal: caller, commandId };
  const { sessionId } = stored.record;
  const reply = await sessions.command(sessionId, command, sender);
  if (reply.status === "refused") throw toRefusal(reply.failure);
  if (reply.deliveredAs !== "queue" || reply.messageId === undefined) return;
  // The turn takes no further messages. In the queue the message would become a task unknown to the caller.
  const revoke = { type: "revoke-inject", messageId: reply.messageId } as const;
  const revoked = await sessions.command(sessionId, revoke, { principal: caller });
  if (revoked.status === "accepted") throw createClosedTurnError();
}

/** The id names the content too: the message may be repeated, and the id may not be used for another message. */
function createContinuationId({ messageId, content, data }: SentMessage): string {
  return `${MESSAGE_COMMAND}${messageId}/${digestValue([content, data]).slice(-16)}`;
}

function hasOtherMessage({ causes }: TaskFold, { messageId }: SentMessage): boolean {
  const first = `${MESSAGE_COMMAND}${messageId}`;
  return [...causes].some((cause) => cause === first || cause.startsWith(`${first}/`));
}

function createCommand(fold: TaskFold, message: SentMessage, caller: Caller): SessionCommand {
  if (fold.openApprovals.size > 0) {
    requireRight(caller, "approve", "Answering an approval");
    return createDecision(fold, message, caller);
  }
  requireRight(caller, "prompt", "Sending a message");
  const { content } = message;
  return { type: "inject", mode: "steer", content, onlyIntoTurn: true, turnId: fold.turnId ?? "" };
}

function createDecision(fold: TaskFold, message: SentMessage, caller: Caller): SessionCommand {
  const { approvalId, ...decision } = readDecision(message);
  const openIds = [...fold.openApprovals.keys()];
  const [onlyId = ""] = openIds;
  if (approvalId === undefined && !isUnambiguous(fold, caller)) {
    const expected = `expected a data part with approvalId: ${openIds.join(" or ")}`;
    throw createParamsError(`The reply does not name its request: ${expected}`);
  }
  const decidedId = approvalId ?? onlyId;
  if (!fold.openApprovals.has(decidedId))
    throw createParamsError(
      `The task has no open request "${decidedId}": expected ${openIds.join(" or ")}`,
    );
  return { type: "decide-approval", approvalId: decidedId, ...decision };
}

/**
 * Whether a reply without an id can only mean the open request. After another person has resolved a request, the caller
 * may still reply to the resolved request.
 */
function isUnambiguous({ openApprovals, lastResolvedBy }: TaskFold, caller: Caller): boolean {
  if (openApprovals.size !== 1) return false;
  return lastResolvedBy === null || lastResolvedBy === caller.id;
}

function createQueuedError(): A2aError {
  const message =
    "The task has not started: another turn of the context runs first. Fix: send the message once the task works";
  return new A2aError("UNSUPPORTED_OPERATION", message);
}

function createClosedTurnError(): A2aError {
  const message =
    "The turn of the task takes no further messages. Fix: send the message with the contextId and without a taskId";
  return new A2aError("UNSUPPORTED_OPERATION", message);
}

function createEndedError({ status }: TaskFold): A2aError {
  const hint =
    "Fix: send the message with the contextId and without a taskId, which starts a new task";
  return new A2aError("UNSUPPORTED_OPERATION", `The task has ended (${status.state}). ${hint}`);
}

/** The id of the message is the id of the command, so the session executes a repeated message once. */
export function createSender({ messageId }: SentMessage, principal: Caller): Sender {
  return { principal, commandId: `${MESSAGE_COMMAND}${messageId}` };
}
