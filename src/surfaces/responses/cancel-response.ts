import type { TurnPaused } from "../../domain/agent-event.ts";
import type { Caller } from "../../http/caller.ts";
import type { Asked } from "./ask.ts";
import { answerIn, type LoggedAnswer } from "./read-log.ts";
import type { Surface } from "./surface.ts";

/**
 * Ends the turn of a response, or takes its prompt back where that still waits. One that has ended stays as it is: where it
 * ended with open calls, the turn that waits for them is over.
 */
export async function cancelResponse(
  { sessions }: Pick<Surface, "sessions">,
  asked: Asked,
  caller: Caller,
): Promise<void> {
  const { sessionId, promptId } = asked;
  const from = { principal: caller };
  const taken = await sessions.command(sessionId, { type: "withdraw", promptId }, from);
  if (taken.status === "accepted") return;
  const answer = await answerIn(asked, sessions);
  const pause = pauseOf(answer);
  const { pausedFor } = await sessions.peek(sessionId);
  // Results may have come since: then the turn is another response's.
  const isWaiting = pause?.toolCallIds.some((id) => pausedFor.includes(id)) === true;
  const turnId = isWaiting ? pause?.turnId : answer.openTurn;
  if (turnId !== undefined) await sessions.command(sessionId, { type: "cancel", turnId }, from);
}

/** How a response ended that left calls open; undefined for any other. */
export function pauseOf({ end }: Pick<LoggedAnswer, "end">): TurnPaused | undefined {
  return end?.type === "turn.paused" ? end : undefined;
}
