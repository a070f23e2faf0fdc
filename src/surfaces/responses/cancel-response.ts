import type { Caller } from "../../http/caller.ts";
import type { Asked } from "./ask.ts";
import { answerIn } from "./read-log.ts";
import type { Surface } from "./surface.ts";

/** Ends the turn of a response, or takes its prompt back where that still waits. One that has ended stays as it is. */
export async function cancelResponse(
  { sessions }: Pick<Surface, "sessions">,
  asked: Asked,
  caller: Caller,
): Promise<void> {
  const { sessionId, promptId } = asked;
  const from = { principal: caller };
  const taken = await sessions.command(sessionId, { type: "withdraw", promptId }, from);
  if (taken.status === "accepted") return;
  const { openTurn: turnId } = await answerIn(asked, sessions);
  if (turnId !== undefined) await sessions.command(sessionId, { type: "cancel", turnId }, from);
}
