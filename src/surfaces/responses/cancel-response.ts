import type { Caller } from "../../http/caller.ts";
import type { Asked } from "./ask.ts";
import { envelopesFrom } from "./read-log.ts";
import type { Surface } from "./surface.ts";

/** Ends the turn of a response, or takes its prompt back where that still waits. One that has ended stays as it is. */
export async function cancelResponse(
  { sessions }: Pick<Surface, "sessions">,
  asked: Asked,
  caller: Caller,
): Promise<void> {
  const { sessionId, promptId, seq } = asked;
  const from = { principal: caller };
  const taken = await sessions.command(sessionId, { type: "withdraw", promptId }, from);
  if (taken.status === "accepted") return;
  const range = { first: seq, last: Number.MAX_SAFE_INTEGER };
  let turnId: string | undefined;
  for await (const { event } of envelopesFrom(asked, range, sessions)) {
    const isBegun = event.type === "turn.started" || event.type === "results.given";
    if (isBegun && event.promptId === promptId) turnId = event.turnId;
    // What was asked after it in the same turn is another response.
    if (event.type === "turn.paused" && event.turnId === turnId) return;
  }
  if (turnId !== undefined) await sessions.command(sessionId, { type: "cancel", turnId }, from);
}
