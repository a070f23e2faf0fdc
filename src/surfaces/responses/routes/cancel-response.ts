import type { TurnPaused } from "../../../domain/events/session-event.ts";
import type { Caller } from "../../../http/access/caller.ts";
import type { SubmittedPrompt } from "../prompt/prompt-request.ts";
import { readLoggedResponse, type LoggedResponse } from "../turn/read-log.ts";
import type { SurfaceContext } from "../surface-context.ts";

/**
 * Ends the turn of a response, or takes its prompt back where that still waits. One that has ended stays as it is: where it
 * ended with open calls, the turn that waits for them is over.
 */
export async function cancelResponse(
  { sessions }: Pick<SurfaceContext, "sessions">,
  submitted: SubmittedPrompt,
  caller: Caller,
): Promise<void> {
  const { sessionId, promptId } = submitted;
  const from = { principal: caller };
  const reply = await sessions.command(sessionId, { type: "withdraw", promptId }, from);
  if (reply.status === "accepted") return;
  const answer = await readLoggedResponse(submitted, sessions);
  const pause = readPause(answer);
  const { pendingToolCallIds } = await sessions.status(sessionId);
  // Results may have come since: then the turn is another response's.
  const isWaiting = pause?.toolCallIds.some((id) => pendingToolCallIds.includes(id)) === true;
  const turnId = isWaiting ? pause?.turnId : answer.openTurnId;
  if (turnId !== undefined) await sessions.command(sessionId, { type: "cancel", turnId }, from);
}

/** How a response ended that left calls open; undefined for any other. */
export function readPause({ end }: Pick<LoggedResponse, "end">): TurnPaused | undefined {
  return end?.type === "turn.paused" ? end : undefined;
}
