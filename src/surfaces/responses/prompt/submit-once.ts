import { isTurnRejected } from "../../../domain/provider/invocation-outcome.ts";
import type { JsonObject } from "../../../data/json.ts";
import type { CommandReply, SessionCommand } from "../../../domain/session-command.ts";
import type { OpenResult, Sender, Sessions } from "../../../session/sessions.ts";
import type { PromptRequest, SubmittedPrompt } from "./prompt-request.ts";
import type { SessionRecord } from "./owned-session.ts";
import { readLoggedResponse } from "../turn/read-log.ts";
import * as refusals from "../request-errors.ts";

export type SubmitCommand = Extract<
  SessionCommand,
  { readonly type: "prompt" | "submit-results" }
> & {
  readonly note: JsonObject;
};

/** Says it to the session: under the caller's key once, unless nothing came of it. */
export async function submitOnce(
  promptRequest: PromptRequest,
  record: SessionRecord,
  command: SubmitCommand,
  sessions: Sessions,
): Promise<SubmittedPrompt> {
  const reply = await sessions.command(record.sessionId, command, createSender(promptRequest));
  return resolveSubmission(promptRequest, record, { command, reply, sessions });
}

/** The sender's name for a command; `nth` where the ones before came to nothing. No key makes a name that another one makes. */
export function createSender({ caller, retry: { key } }: PromptRequest, attempt = 0): Sender {
  if (key === undefined) return { principal: caller };
  return { principal: caller, commandId: attempt === 0 ? `ask/${key}` : `again/${attempt}/${key}` };
}

interface FirstReply {
  readonly command: SubmitCommand;
  readonly reply: CommandReply;
  readonly sessions: Sessions;
}

/** Where the log has what was asked. It is asked again where it came to nothing before. */
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
    // A command that was sent before got its reply then, and is at a place that the session had already.
    const isRepeated = position.seq <= seq;
    if (!isRepeated || !(await hasNoEffect(position, sessions)))
      return { ...position, note: command.note, isRepeated };
    reply = await sessions.command(sessionId, command, createSender(promptRequest, attempt));
  }
}

/** It was taken back, or turned away before anybody heard it: whoever sends it again wants it done. */
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
  if (promptId === undefined || seq === undefined) throw new Error("A prompt has no place");
  return { promptId, seq, isWaiting: turnId === undefined };
}
