import type { ModelMessage } from "../domain/model-request.ts";
import type { CommandReply } from "../domain/session-command.ts";
import { pairedMessages, settledMessages } from "../domain/settled-messages.ts";
import { historyProblem } from "./check-opening.ts";
import { refused } from "./refused.ts";
import { agentOf, type Work } from "./work.ts";

/**
 * Adds messages between two turns. An agent that keeps its own history can be told it only when its conversation begins, so that
 * later messages are refused for it.
 */
export function addHistory(work: Work, given: readonly ModelMessage[]): CommandReply {
  const { turn, asked } = work.state;
  const problem = historyProblem(given);
  if (problem !== undefined) return refused("invalid_option", problem, { path: "items" });
  if (turn.current !== null || turn.queue.length > 0) {
    return refused("conflict", "A turn is under way; add messages when it has ended");
  }
  if (turn.upstream !== null && agentOf(work).provider.keepsHistory !== false) {
    const message = "The agent keeps its own history and has begun it: nothing can be added";
    return refused("conflict", message, { reason: "history_begun" });
  }
  const isFirst = !turn.isHistoryGiven && asked.length === 0;
  const messages = isFirst ? settledMessages(given) : pairedMessages(given);
  work.emit({ type: "history.given", messages });
  return { status: "accepted", seq: work.state.seq };
}
