import type { ModelMessage } from "../domain/model/model-request.ts";
import type { CommandReply } from "../domain/session-command.ts";
import { pairToolResults, normalizeHistory } from "../domain/model/normalize-history.ts";
import { findHistoryProblem } from "./check-open-options.ts";
import { refuse } from "./refuse-command.ts";
import { readAgentSpec, type Decision } from "./decision.ts";

/**
 * Adds messages between two turns. An agent that keeps its own history can be told it only when its conversation begins, so that
 * later messages are refused for it.
 */
export function addHistory(
  decision: Decision,
  addedMessages: readonly ModelMessage[],
): CommandReply {
  const { turn, submittedPrompts } = decision.state;
  const problem = findHistoryProblem(addedMessages);
  if (problem !== undefined) return refuse("invalid_option", problem, { path: "items" });
  if (turn.current !== null || turn.queue.length > 0) {
    return refuse("conflict", "A turn is under way; add messages when it has ended");
  }
  if (turn.upstream !== null && readAgentSpec(decision).provider.keepsHistory !== false) {
    const message = "The agent keeps its own history and has begun it: nothing can be added";
    return refuse("conflict", message, { reason: "history_begun" });
  }
  const isFirst = !turn.isHistoryImported && submittedPrompts.length === 0;
  const messages = isFirst ? normalizeHistory(addedMessages) : pairToolResults(addedMessages);
  decision.emit({ type: "history.imported", messages });
  return { status: "accepted", seq: decision.state.seq };
}
