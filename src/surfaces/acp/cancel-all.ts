import type { CommandReply, SessionCommand } from "../../domain/session-command.ts";
import type { ClientLink } from "./client-link.ts";
import type { CancelCommand } from "./open-prompts.ts";
import { turnOfPrompt } from "./turn-of-prompt.ts";

interface Place {
  readonly link: ClientLink;
  readonly sessionId: string;
  /** Nothing is looked for any longer. */
  readonly signal: AbortSignal;
}

/** Ends what these commands say, one after the other. */
export async function cancelAll(commands: readonly CancelCommand[], place: Place): Promise<void> {
  const { link, sessionId } = place;
  for (const wanted of commands) {
    let reply = await command(wanted, place);
    if (wanted.type === "withdraw" && reply.status === "refused") {
      reply = await cancelTurnOf(wanted.promptId, place);
    }
    // Who leaves may have no say in what goes on without them.
    const isLeaving = wanted.type === "cancel" && wanted.unlessWatched === true;
    if (reply.status === "accepted" || isLeaving) continue;
    link.log("a cancel was refused", { sessionId, code: reply.failure.code });
  }
}

/** A prompt that has just got its turn can no longer be withdrawn, only stopped: that turn, and nobody else's. */
async function cancelTurnOf(promptId: string, place: Place): Promise<CommandReply> {
  const { link, sessionId, signal } = place;
  const turnId = await turnOfPrompt(link, { sessionId, promptId }, signal);
  return turnId === undefined ? { status: "accepted" } : command({ type: "cancel", turnId }, place);
}

function command(wanted: SessionCommand, { link, sessionId }: Place): Promise<CommandReply> {
  return link.sessions.command(sessionId, wanted, link.sender);
}
