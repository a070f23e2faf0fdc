import { isTurnRejected } from "../../../domain/provider/invocation-outcome.ts";
import type { JsonObject } from "../../../data/json.ts";
import type { CommandReply, SessionCommand } from "../../../domain/session-command.ts";
import type { OpenResult, Sender, Sessions } from "../../../session/sessions.ts";
import type { PromptRequest, SubmittedPrompt } from "./prompt-request.ts";
import type { SessionRecord } from "../../log/owned-session.ts";
import { readLoggedResponse } from "../turn/logged-response.ts";
import * as refusals from "../request-errors.ts";

export type SubmitCommand = Extract<
  SessionCommand,
  { readonly type: "prompt" | "submit-results" }
> & {
  readonly note: JsonObject;
};

/**
 * Sends the command to the session. With an Idempotency-Key the command takes effect once, unless the earlier attempt
 * had no effect.
 */
export async function submitOnce(
  promptRequest: PromptRequest,
  record: SessionRecord,
  command: SubmitCommand,
  sessions: Sessions,
): Promise<SubmittedPrompt> {
  const reply = await sessions.command(record.sessionId, command, createSender(promptRequest));
  return resolveSubmission(promptRequest, record, { command, reply, sessions });
}

/**
 * The sender with the command id. `attempt` counts earlier attempts without effect. The prefixes keep the ids of
 * different keys distinct.
 */
export function createSender({ caller, retry: { key } }: PromptRequest, attempt = 0): Sender {
  if (key === undefined) return { principal: caller };
  return { principal: caller, commandId: attempt === 0 ? `ask/${key}` : `again/${attempt}/${key}` };
}

interface FirstReply {
  readonly command: SubmitCommand;
  readonly reply: CommandReply;
  readonly sessions: Sessions;
}

/**
 * Resolves the position of the prompt in the log. If an earlier attempt with the same key had no effect, sends the
 * command again.
 */
export async function resolveSubmission(
  promptRequest: PromptRequest,
  {
    sessionId,
    incarnation,
    agent,
    seq,
  }: Pick<OpenResult, "sessionId" | "incarnation" | "agent" | "seq">,
  { command, reply: firstReply, sessions }: FirstReply,
): Promise<SubmittedPrompt> {
  let reply = firstReply;
  for (let attempt = 1; ; attempt += 1) {
    const position = { sessionId, incarnation, agent, ...readPosition(reply, promptRequest) };
    // A repeated command gets its first reply, whose position the session had already reached.
    const isRepeated = position.seq <= seq;
    if (!isRepeated || !(await hasNoEffect(position, sessions)))
      return { ...position, note: command.note, isRepeated };
    reply = await sessions.command(sessionId, command, createSender(promptRequest, attempt));
  }
}

/**
 * Whether the earlier attempt had no effect: the prompt was withdrawn, or the turn was rejected before the agent
 * received the prompt. A retry then runs the prompt.
 */
async function hasNoEffect(
  position: Parameters<typeof readLoggedResponse>[0],
  sessions: Sessions,
): Promise<boolean> {
  const { end } = await readLoggedResponse(position, sessions);
  if (end?.type === "turn.finished") return isTurnRejected(end);
  return end?.type === "prompt.withdrawn";
}

function readPosition(
  reply: CommandReply,
  promptRequest: PromptRequest,
): Pick<SubmittedPrompt, "promptId" | "seq"> & { readonly isWaiting: boolean } {
  if (reply.status === "refused") {
    if (reply.failure.details["reason"] === "gone_on") throw refusals.createNotLatestError();
    if (reply.failure.details["reason"] === "other_command") throw refusals.createKeyReusedError();
    throw refusals.toRefusalError(reply.failure, (path) => promptRequest.resolveField?.(path));
  }
  const { promptId, seq, turnId } = reply;
  if (promptId === undefined || seq === undefined)
    throw new Error("An accepted prompt has no position in the log");
  return { promptId, seq, isWaiting: turnId === undefined };
}
