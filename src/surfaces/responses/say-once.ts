import { isUnheard } from "../../domain/call-fate.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { CommandReply, SessionCommand } from "../../domain/session-command.ts";
import type { Begun, Sender, Sessions } from "../../session/sessions.ts";
import type { Ask, Asked } from "./ask.ts";
import type { SessionRecord } from "./owned-session.ts";
import { answerIn } from "./read-log.ts";
import * as refusals from "./refusals.ts";

export type Asking = Extract<SessionCommand, { readonly type: "prompt" | "give-results" }> & {
  readonly note: JsonObject;
};

/** Says it to the session: under the caller's key once, unless nothing came of it. */
export async function sayOnce(
  ask: Ask,
  record: SessionRecord,
  command: Asking,
  sessions: Sessions,
): Promise<Asked> {
  const reply = await sessions.command(record.sessionId, command, senderOf(ask));
  return settledAsk(ask, record, { command, reply, sessions });
}

/** The sender's name for a command; `nth` where the ones before came to nothing. No key makes a name that another one makes. */
export function senderOf({ caller, retry: { key } }: Ask, nth = 0): Sender {
  if (key === undefined) return { principal: caller };
  return { principal: caller, commandId: nth === 0 ? `ask/${key}` : `again/${nth}/${key}` };
}

interface Replied {
  readonly command: Asking;
  readonly reply: CommandReply;
  readonly sessions: Sessions;
}

/** Where the log has what was asked. It is asked again where it came to nothing before. */
export async function settledAsk(
  ask: Ask,
  {
    sessionId,
    incarnation,
    agent,
    seq,
  }: Pick<Begun, "sessionId" | "incarnation" | "agent" | "seq">,
  { command, reply: first, sessions }: Replied,
): Promise<Asked> {
  let reply = first;
  for (let nth = 1; ; nth += 1) {
    const place = { sessionId, incarnation, agent, ...placeIn(reply, ask) };
    // A command that was sent before got its reply then, and is at a place that the session had already.
    const isRepeated = place.seq <= seq;
    if (!isRepeated || !(await cameToNothing(place, sessions)))
      return { ...place, note: command.note, isRepeated };
    reply = await sessions.command(sessionId, command, senderOf(ask, nth));
  }
}

/** It was taken back, or turned away before anybody heard it: whoever sends it again wants it done. */
async function cameToNothing(
  place: Parameters<typeof answerIn>[0],
  sessions: Sessions,
): Promise<boolean> {
  const { end } = await answerIn(place, sessions);
  if (end?.type === "turn.finished") return isUnheard(end);
  return end?.type === "prompt.withdrawn";
}

function placeIn(
  reply: CommandReply,
  ask: Ask,
): Pick<Asked, "promptId" | "seq"> & { readonly isWaiting: boolean } {
  if (reply.status === "refused") {
    if (reply.failure.details["reason"] === "gone_on") throw refusals.notLatest();
    if (reply.failure.details["reason"] === "other_command") throw refusals.keyReused();
    throw refusals.refusedBySession(reply.failure, (path) => ask.fieldOf?.(path));
  }
  const { promptId, seq, turnId } = reply;
  if (promptId === undefined || seq === undefined) throw new Error("A prompt has no place");
  return { promptId, seq, isWaiting: turnId === undefined };
}
