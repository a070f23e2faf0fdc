import { isTerminalStatus } from "../domain/workers/worker.ts";
import type { CommandReply } from "../domain/session-command.ts";
import type { Decision } from "./decision.ts";
import type { CommandInput } from "./session-input.ts";
import { revokeAllMessages } from "./steering/steering-commands.ts";
import { cancelWorker } from "./workers/worker-commands.ts";
import { cancelTurn, withdrawAllPrompts } from "./turn/turn-commands.ts";

/**
 * Ends all work of a session: the turn, waiting prompts and messages, and the workers. The session stays usable: a
 * person may continue it with a new prompt.
 */
export function endWork(decision: Decision, sender: Pick<CommandInput, "actor">): CommandReply {
  withdrawAllPrompts(decision, "closed");
  revokeAllMessages(decision);
  const reply = cancelTurn(decision, { type: "cancel" }, sender);
  for (const worker of decision.state.workers.open)
    if (!isTerminalStatus(worker.status)) cancelWorker(decision, worker, "closed");
  return reply;
}
