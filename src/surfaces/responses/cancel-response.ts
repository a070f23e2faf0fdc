import type { TurnPaused } from "../../domain/agent-event.ts";
import type { Caller } from "../../http/caller.ts";
import type { Asked } from "./ask.ts";
import { answerIn } from "./read-log.ts";
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
  const { openTurn } = await answerIn(asked, sessions);
  const turnId = openTurn ?? (await waitingTurn({ sessions }, asked));
  if (turnId !== undefined) await sessions.command(sessionId, { type: "cancel", turnId }, from);
}

/** How a response ended that left calls open; undefined for any other. */
export async function pauseOf(
  { sessions }: Pick<Surface, "sessions">,
  asked: Asked,
): Promise<TurnPaused | undefined> {
  const { end } = await answerIn(asked, sessions);
  return end?.type === "turn.paused" ? end : undefined;
}

/** Results may have come since: then the turn is another response's. */
async function waitingTurn(
  surface: Pick<Surface, "sessions">,
  asked: Asked,
): Promise<string | undefined> {
  const pause = await pauseOf(surface, asked);
  const { pausedFor } = await surface.sessions.peek(asked.sessionId);
  const isWaiting = pause?.toolCallIds.some((id) => pausedFor.includes(id)) === true;
  return isWaiting ? pause?.turnId : undefined;
}
