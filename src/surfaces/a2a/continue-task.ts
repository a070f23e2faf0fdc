import { requireRight, type Caller } from "../../http/access/caller.ts";
import type { SessionCommand } from "../../domain/session-command.ts";
import type { Sender, Sessions } from "../../session/sessions.ts";
import { A2aError, createParamsError } from "../../wire/a2a/a2a-error.ts";
import { readDecision, type SentMessage } from "../../wire/a2a/read-message.ts";
import type { TaskFold } from "../../wire/a2a/task-state.ts";
import { isTerminalState } from "../../wire/a2a/task.ts";
import { isRepeatedId, toRefusal } from "./refusals.ts";
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
  const command = createCommand(fold, message, caller);
  const sender = createSender(message, caller);
  const reply = await sessions.command(stored.record.sessionId, command, sender);
  // The task has moved on since the message was first delivered, so the repeated message looks like another command.
  if (reply.status === "accepted" || isRepeatedId(reply.failure)) return;
  if (isTerminalState(fold.status.state)) throw createEndedError(fold);
  throw toRefusal(reply.failure);
}

function createCommand(fold: TaskFold, message: SentMessage, caller: Caller): SessionCommand {
  if (fold.openApprovals.size > 0) {
    requireRight(caller, "approve", "Answering an approval");
    return createDecision(fold, message);
  }
  // A message to an ended task is sent too: the session refuses the message, except for a repeat.
  const { content } = message;
  return { type: "inject", mode: "steer", content, onlyIntoTurn: true, turnId: fold.turnId ?? "" };
}

function createDecision({ openApprovals }: TaskFold, message: SentMessage): SessionCommand {
  const { approvalId, ...decision } = readDecision(message);
  const openIds = [...openApprovals.keys()];
  const [onlyId] = openIds;
  if (approvalId === undefined && openIds.length > 1) {
    const expected = `expected a data part with approvalId, one of ${openIds.join(", ")}`;
    throw createParamsError(`The task has ${openIds.length} open requests: ${expected}`);
  }
  const decidedId = approvalId ?? onlyId ?? "";
  if (!openApprovals.has(decidedId))
    throw createParamsError(
      `The task has no open request "${decidedId}": expected ${openIds.join(", ")}`,
    );
  return { type: "decide-approval", approvalId: decidedId, ...decision };
}

function createEndedError({ status }: TaskFold): A2aError {
  const hint =
    "Fix: send the message with the contextId and without a taskId, which starts a new task";
  return new A2aError("UNSUPPORTED_OPERATION", `The task has ended (${status.state}). ${hint}`);
}

/** The id of the message is the id of the command, so the session executes a repeated message once. */
export function createSender({ messageId }: SentMessage, principal: Caller): Sender {
  return { principal, commandId: `a2a/${messageId}` };
}
