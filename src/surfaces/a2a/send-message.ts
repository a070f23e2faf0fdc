import { findOwnedSession, type SessionRecord } from "../log/owned-session.ts";
import { canUseAgent, type Caller } from "../../http/access/caller.ts";
import { digestValue } from "../../platform/digest.ts";
import type { CommandReply, SessionCommand } from "../../domain/session-command.ts";
import { isSessionId } from "../../domain/events/log-position.ts";
import type { Sessions } from "../../session/sessions.ts";
import { formatUnknownName } from "../../text/unknown-name.ts";
import { A2aError, createParamsError } from "../../wire/a2a/a2a-error.ts";
import { createMessageNote } from "../../wire/a2a/message-note.ts";
import type { SentMessage } from "../../wire/a2a/read-message.ts";
import type { A2aOptions } from "./a2a-context.ts";
import { continueTask, createSender } from "./continue-task.ts";
import { toRefusal } from "./refusals.ts";
import { findTask, type StoredTask } from "./stored-task.ts";

export interface SendOptions {
  readonly caller: Caller;
  /** The agent named by the request. Undefined: the agent of the session, or the first agent. */
  readonly agent: string | undefined;
}

/**
 * Delivers a message: a new task, or the continuation of a task. The message takes effect once, however often the client
 * sends it.
 */
export async function sendMessage(
  options: A2aOptions,
  message: SentMessage,
  { caller, agent }: SendOptions,
): Promise<StoredTask> {
  const { sessions } = options;
  if (agent !== undefined) checkAgent(sessions, agent, caller);
  const { taskId, contextId } = message;
  if (taskId !== undefined) {
    const stored = await findTask(sessions, taskId, caller);
    if (contextId !== undefined && contextId !== stored.record.sessionId)
      throw createParamsError(`message.contextId is not the context of the task ${taskId}`);
    await continueTask(sessions, stored, { message, caller });
    // The state of the task is read after the message took effect.
    return findTask(sessions, taskId, caller);
  }
  const record =
    contextId === undefined ? undefined : await findOwnedSession(sessions, contextId, caller);
  if (record !== undefined) return startTask(sessions, record, { message, caller, agent });
  return openContext(options, message, { caller, agent });
}

function checkAgent(sessions: Sessions, agent: string, caller: Caller): void {
  if (sessions.agents.includes(agent) && canUseAgent(caller, agent)) return;
  const names = sessions.agents.filter((name) => canUseAgent(caller, name));
  throw createParamsError(formatUnknownName("Agent", agent, { names }));
}

interface NewTask extends SendOptions {
  readonly message: SentMessage;
}

/** Starts a task in an existing context. */
async function startTask(
  sessions: Sessions,
  record: SessionRecord,
  { message, caller, agent }: NewTask,
): Promise<StoredTask> {
  if (agent !== undefined && agent !== record.agent) {
    const hint = "Fix: start a new context for another agent";
    throw createParamsError(
      `The context belongs to the agent "${record.agent}", not to "${agent}". ${hint}`,
    );
  }
  const sender = createSender(message, caller);
  const reply = await sessions.command(record.sessionId, createPrompt(message), sender);
  return locateTask(sessions, record, { reply, caller });
}

/** Opens a session with its first prompt. The id of the session follows from the message, so a repeat finds the session. */
async function openContext(
  { sessions, adoptContexts }: A2aOptions,
  message: SentMessage,
  { caller, agent }: SendOptions,
): Promise<StoredTask> {
  const { contextId, messageId } = message;
  if (contextId !== undefined && !(adoptContexts && isSessionId(contextId))) {
    const hint = "Fix: omit contextId to start a new context, and use the id in the response";
    throw createParamsError(`${formatUnknownName("Context", contextId)}. ${hint}`);
  }
  const sessionId = contextId ?? `ses_${digestValue([caller.id, messageId]).slice(-32)}`;
  const name = agent ?? sessions.agents.find((known) => canUseAgent(caller, known));
  if (name === undefined)
    throw new A2aError(
      "PERMISSION_DENIED",
      "The key of the caller may use no agent of this server",
    );
  const opened = await sessions.openWithPrompt(
    { sessionId, principal: caller, agent: name },
    { sender: createSender(message, caller), createPrompt: () => createPrompt(message) },
  );
  if (opened.reply === undefined) throw createParamsError(formatUnknownName("Context", sessionId));
  return locateTask(sessions, opened, { reply: opened.reply, caller });
}

function createPrompt({
  content,
  messageId,
}: SentMessage): Extract<SessionCommand, { readonly type: "prompt" }> {
  return { type: "prompt", content, note: createMessageNote(messageId) };
}

/** `before`: the session as of before the message. */
async function locateTask(
  sessions: Sessions,
  before: { readonly sessionId: string; readonly seq: number },
  { reply, caller }: { readonly reply: CommandReply; readonly caller: Caller },
): Promise<StoredTask> {
  if (reply.status === "refused") throw toRefusal(reply.failure);
  const { sessionId } = before;
  const record = await findOwnedSession(sessions, sessionId, caller);
  if (record === undefined || reply.seq === undefined)
    throw new A2aError("INTERNAL_ERROR", "The session was deleted after it accepted the message");
  const isRepeated = reply.seq <= before.seq;
  return { record, position: { sessionId, seq: reply.seq }, isRepeated };
}
