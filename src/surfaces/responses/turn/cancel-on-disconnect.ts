import type { Caller } from "../../../http/access/caller.ts";
import type { Sessions } from "../../../session/sessions.ts";
import type { SubmittedPrompt } from "../prompt/prompt-request.ts";
import { readLoggedResponse } from "./read-log.ts";
import type { ResponsesSettings } from "../../../domain/responses-settings.ts";
import type { WaitingCallers } from "./waiting-callers.ts";

export interface DisconnectOptions {
  readonly sessions: Sessions;
  readonly settings: ResponsesSettings;
  readonly caller: Caller;
  readonly waitingCallers: WaitingCallers;
}

/**
 * A prompt that waits is taken back; a turn that runs is ended, unless somebody else follows it. `known` is the turn as far as
 * the caller had read: who left before may have had one that is over, and the turn that runs now is another's.
 */
export async function cancelOnDisconnect(
  submitted: SubmittedPrompt,
  knownTurnId: string | undefined,
  { sessions, caller, settings, waitingCallers }: DisconnectOptions,
): Promise<void> {
  const { sessionId, promptId } = submitted;
  const from = { principal: caller };
  if (knownTurnId === undefined) {
    const reply = await sessions.command(sessionId, { type: "withdraw", promptId }, from);
    if (reply.status === "accepted") return;
  }
  if (settings.onDisconnect === "finish") return;
  const turnId = knownTurnId ?? (await readLoggedResponse(submitted, sessions)).openTurnId;
  if (turnId === undefined) return;
  const waitingReaders = waitingCallers.count(sessionId);
  const cancel = { type: "cancel", unlessWatched: true, waitingReaders, turnId } as const;
  await sessions.command(sessionId, cancel, from);
}
