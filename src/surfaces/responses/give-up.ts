import type { Caller } from "../../http/caller.ts";
import type { Sessions } from "../../session/sessions.ts";
import type { Asked } from "./ask.ts";
import { answerIn } from "./read-log.ts";
import type { ResponsesSettings } from "./responses-options.ts";
import type { WaitingCallers } from "./waiting-callers.ts";

export interface GivingUp {
  readonly sessions: Sessions;
  readonly settings: ResponsesSettings;
  readonly caller: Caller;
  readonly waiting: WaitingCallers;
}

/**
 * A prompt that waits is taken back; a turn that runs is ended, unless somebody else follows it. `known` is the turn as far as
 * the caller had read: who left before may have had one that is over, and the turn that runs now is another's.
 */
export async function giveUp(
  asked: Asked,
  known: string | undefined,
  { sessions, caller, settings, waiting }: GivingUp,
): Promise<void> {
  const { sessionId, promptId } = asked;
  const from = { principal: caller };
  if (known === undefined) {
    const reply = await sessions.command(sessionId, { type: "withdraw", promptId }, from);
    if (reply.status === "accepted") return;
  }
  if (settings.onDisconnect === "finish") return;
  const turnId = known ?? (await answerIn(asked, sessions)).openTurn;
  if (turnId === undefined) return;
  const besides = waiting.count(sessionId);
  const cancel = { type: "cancel", unlessWatched: true, besides, turnId } as const;
  await sessions.command(sessionId, cancel, from);
}
