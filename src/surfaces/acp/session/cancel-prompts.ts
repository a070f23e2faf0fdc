import type { Failure } from "../../../domain/errors.ts";
import type { CommandReply } from "../../../domain/session-command.ts";
import type { ClientLink } from "../connection/client-link.ts";
import type { PromptCancellation } from "./pending-prompts.ts";

interface CancelContext {
  readonly link: ClientLink;
  readonly sessionId: string;
  /** Stops the search for a prompt's turn. */
  readonly signal: AbortSignal;
}

/** Sends the commands in order. Resolves with the first refusal, or undefined if all were accepted. */
export async function cancelPrompts(
  cancellations: readonly PromptCancellation[],
  context: CancelContext,
): Promise<Failure | undefined> {
  const { link, sessionId } = context;
  let refusal: Failure | undefined;
  for (const cancellation of cancellations) {
    const { command } = cancellation;
    let reply = await sendCancel(cancellation, context);
    if (command.type === "withdraw-prompt" && reply.status === "refused") {
      reply = await cancelPromptTurn(command.promptId, cancellation, context);
    }
    // A client that leaves may have no right to cancel; the refusal is expected and not reported.
    const isLeaving = command.type === "cancel" && command.unlessWatched === true;
    if (reply.status === "accepted" || isLeaving) continue;
    refusal ??= reply.failure;
    link.log("a cancel was refused", { sessionId, code: reply.failure.code });
  }
  return refusal;
}

/** Cancels the turn of a prompt that started before it could be withdrawn. Turns of other prompts are not affected. */
async function cancelPromptTurn(
  promptId: string,
  { from }: PromptCancellation,
  context: CancelContext,
): Promise<CommandReply> {
  const { link, sessionId, signal } = context;
  const turnId = await findPromptTurn(link, { sessionId, promptId }, signal);
  if (turnId === undefined) return { status: "accepted" };
  return sendCancel({ command: { type: "cancel", turnId }, from }, context);
}

function sendCancel(
  { command, from }: PromptCancellation,
  { link, sessionId }: CancelContext,
): Promise<CommandReply> {
  return link.sessions.command(sessionId, command, from);
}

/**
 * Finds the turn of a prompt in the log, because the client's feed may be far behind. Undefined if the prompt was
 * withdrawn or the signal aborted first.
 */
async function findPromptTurn(
  { sessions }: Pick<ClientLink, "sessions">,
  { sessionId, promptId }: { readonly sessionId: string; readonly promptId: string },
  signal: AbortSignal,
): Promise<string | undefined> {
  const stopController = new AbortController();
  const stopSignal = AbortSignal.any([signal, stopController.signal]);
  try {
    for await (const { events } of sessions.subscribe(sessionId, undefined, stopSignal)) {
      for (const { event } of events) {
        if (!("promptId" in event) || event.promptId !== promptId) continue;
        if (event.type === "turn.started") return event.turnId;
        if (event.type === "prompt.withdrawn") return undefined;
      }
    }
    return undefined;
  } finally {
    stopController.abort();
  }
}
