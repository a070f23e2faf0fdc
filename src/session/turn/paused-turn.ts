import type { PromptPart } from "../../domain/agent-event.ts";
import type { CommandReply, GivenResult, SessionCommand } from "../../domain/session-command.ts";
import { refused } from "../refused.ts";
import { finishGiven } from "../tools/finish-tool.ts";
import { runOf, type ToolRun } from "../tools/tools-state.ts";
import { agentOf, type Work } from "../work.ts";
import { bytesOf, problemWithContent, problemWithNote, problemWithPlace } from "./check-prompt.ts";
import { finish } from "./finish-turn.ts";
import { shownContent } from "./shown-content.ts";
import type { CurrentTurn, Pause } from "./turn-state.ts";

/** Of all results together. */
const MAX_RESULTS_BYTES = 4 * 1024 * 1024;
const DAY_MS = 86_400_000;

/** Nothing is left to do but what whoever prompted does. Said once. */
export function pauseTurn(
  work: Work,
  { turnId, pause }: CurrentTurn,
  runs: readonly ToolRun[],
): void {
  if (pause !== null) return;
  const toolCallIds = runs.map(({ toolCallId }) => toolCallId);
  work.emit({ type: "turn.paused", turnId, toolCallIds });
}

/** When a paused turn is waited for no longer. */
export function resultsDeadline({ at }: Pause, resultsMs = DAY_MS): number {
  return at + resultsMs;
}

export function endLatePause(work: Work): void {
  const { current } = work.state.turn;
  if (current === null || current.pause === null) return;
  if (resultsDeadline(current.pause, agentOf(work).resultsMs) > work.at) return;
  finish(work, current, { outcome: "limited", reason: "results_missing" });
}

type GiveResults = Extract<SessionCommand<PromptPart>, { readonly type: "give-results" }>;

/** All of them, each once, and nothing else: what is missing could not be told from what is still to come. */
export function giveResults(work: Work, command: GiveResults): CommandReply {
  const { results, content, messages, note } = command;
  const { current } = work.state.turn;
  const problem = problemWith(work, command);
  if (problem !== undefined) return problem;
  if (current === null || current.pause === null) {
    return refused("resume_mismatch", "This session waits for no results; send a prompt instead");
  }
  const { turnId, pause } = current;
  const mismatch = problemWithPlace(command, work.state) ?? mismatchOf(pause, results);
  if (mismatch !== undefined) return mismatch;
  const promptId = work.ids.next("prompt");
  work.emit({
    type: "results.given",
    promptId,
    turnId,
    toolCallIds: pause.toolCallIds,
    ...(content !== undefined && { content }),
    ...(messages !== undefined && { messages }),
    ...(note !== undefined && { note }),
  });
  const { seq } = work.state;
  for (const result of results) {
    const run = runOf(work.state.tools, result.toolCallId);
    if (run !== undefined) finishGiven(work, run, result);
  }
  if (content !== undefined) say(work, content, promptId);
  return { status: "accepted", promptId, turnId, seq };
}

/** Beside the results, or where nothing can be said there, as the next prompt. */
function say(work: Work, given: readonly PromptPart[], promptId: string): void {
  const agent = agentOf(work);
  if (!agent.provider.seams.includes("tool-results")) {
    const next = work.ids.next("prompt");
    return work.emit({ type: "prompt.accepted", promptId: next, content: given });
  }
  const messageId = work.ids.next("msg");
  const content = shownContent(given, agent);
  work.emit({ type: "message.sent", messageId, content, origin: "prompt", promptId });
}

function problemWith(
  work: Work,
  { results, content, note }: GiveResults,
): CommandReply | undefined {
  if (bytesOf(results) > MAX_RESULTS_BYTES) {
    const message = `The results have more than ${MAX_RESULTS_BYTES} bytes; make them smaller`;
    return refused("invalid_message", message, { path: "results" });
  }
  const wrong = content === undefined ? undefined : problemWithContent(content, agentOf(work));
  return wrong ?? problemWithNote(note);
}

function mismatchOf(
  { toolCallIds }: Pause,
  results: readonly GivenResult[],
): CommandReply | undefined {
  const wanted = new Set(toolCallIds);
  const given = new Set<string>();
  const [unknown, repeated]: [string[], string[]] = [[], []];
  for (const { toolCallId } of results) {
    if (!wanted.has(toolCallId)) unknown.push(toolCallId);
    else if (given.has(toolCallId)) repeated.push(toolCallId);
    given.add(toolCallId);
  }
  const missing = toolCallIds.filter((id) => !given.has(id));
  const found = Object.entries({ missing, unknown, repeated })
    .filter(([, ids]) => ids.length > 0)
    .map(([how, ids]) => [how, ids.slice(0, MOST_NAMED)] as const);
  if (found.length === 0) return undefined;
  const what = found.map(([how, ids]) => `${how}: ${ids.join(", ")}`);
  const message = `Every call that the turn waits for wants one result; ${what.join("; ")}`;
  return refused("resume_mismatch", message, Object.fromEntries(found));
}

const MOST_NAMED = 8;
