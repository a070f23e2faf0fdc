import type { Failure } from "../../domain/errors.ts";
import type { CommandReply } from "../../domain/session-command.ts";
import type { ClientLink } from "./client-link.ts";
import type { Cancelling } from "./open-prompts.ts";
import { turnOfPrompt } from "./turn-of-prompt.ts";

interface Place {
  readonly link: ClientLink;
  readonly sessionId: string;
  /** Nothing is looked for any longer. */
  readonly signal: AbortSignal;
}

/** Sends these commands one after the other. Resolves with the first refusal, or undefined if all were accepted. */
export async function cancelAll(
  wanted: readonly Cancelling[],
  place: Place,
): Promise<Failure | undefined> {
  const { link, sessionId } = place;
  let refusal: Failure | undefined;
  for (const one of wanted) {
    const { command } = one;
    let reply = await send(one, place);
    if (command.type === "withdraw" && reply.status === "refused") {
      reply = await cancelTurnOf(command.promptId, one, place);
    }
    // Who leaves may have no say in what goes on without them.
    const isLeaving = command.type === "cancel" && command.unlessWatched === true;
    if (reply.status === "accepted" || isLeaving) continue;
    refusal ??= reply.failure;
    link.log("a cancel was refused", { sessionId, code: reply.failure.code });
  }
  return refusal;
}

/** A prompt that has just got its turn can no longer be withdrawn, only stopped: that turn, and nobody else's. */
async function cancelTurnOf(
  promptId: string,
  { from }: Cancelling,
  place: Place,
): Promise<CommandReply> {
  const { link, sessionId, signal } = place;
  const turnId = await turnOfPrompt(link, { sessionId, promptId }, signal);
  if (turnId === undefined) return { status: "accepted" };
  return send({ command: { type: "cancel", turnId }, from }, place);
}

function send({ command, from }: Cancelling, { link, sessionId }: Place): Promise<CommandReply> {
  return link.sessions.command(sessionId, command, from);
}
