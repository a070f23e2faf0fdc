import type { PromptPart } from "../../domain/prompt.ts";
import type {
  CommandReply,
  SubmittedResult,
  SessionCommand,
} from "../../domain/session-command.ts";
import { refuse } from "../refuse-command.ts";
import { finishWithSubmittedResult } from "../tools/finish-tool.ts";
import { findRun, type ToolRun } from "../tools/tools-state.ts";
import { readAgentSpec, type Decision } from "../decision.ts";
import {
  countJsonBytes,
  checkContent,
  checkNote,
  checkPromptPosition,
  describeHiddenImages,
} from "./check-prompt.ts";
import { finishTurn } from "./finish-turn.ts";
import type { CurrentTurn, Pause } from "./turn-state.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/** Limit for all results together. */
const MAX_RESULTS_BYTES = 4 * 1024 * 1024;
const DAY_MS = 86_400_000;

/** Pauses the turn: only tool calls of the prompter are left. Emits the event once per pause. */
export function pauseTurn(
  decision: Decision,
  { turnId, pause }: CurrentTurn,
  runs: readonly ToolRun[],
): void {
  if (pause !== null) return;
  const toolCallIds = runs.map(({ toolCallId }) => toolCallId);
  decision.emit({ type: "turn.paused", turnId, toolCallIds });
}

/** Time at which a paused turn ends without its results. */
export function computeResultsDeadline({ pausedAt }: Pause, resultsMs = DAY_MS): number {
  return pausedAt + resultsMs;
}

export function expirePausedTurn(decision: Decision): void {
  const { current } = decision.state.turn;
  if (current === null || current.pause === null) return;
  if (computeResultsDeadline(current.pause, readAgentSpec(decision).resultsMs) > decision.at)
    return;
  finishTurn(decision, current, { outcome: "limited", reason: "results_missing" });
}

type SubmitResults = Extract<SessionCommand<PromptPart>, { readonly type: "submit-results" }>;

/**
 * Accepts the results of a paused turn: all of them, each once, and no others. A partial submission is refused, because
 * a missing result could not be distinguished from a late one.
 */
export function submitResults(decision: Decision, command: SubmitResults): CommandReply {
  const { results, content, messages, note } = command;
  const { current } = decision.state.turn;
  const problem = checkResults(decision, command);
  if (problem !== undefined) return problem;
  if (current === null || current.pause === null) {
    return refuse("resume_mismatch", "This session does not wait for results. Fix: send a prompt");
  }
  const { turnId, pause } = current;
  const mismatch =
    checkPromptPosition(command, decision.state) ?? findResultMismatch(pause, results);
  if (mismatch !== undefined) return mismatch;
  const promptId = decision.ids.next("prompt");
  decision.emit({
    type: "tool_results.submitted",
    promptId,
    turnId,
    toolCallIds: pause.toolCallIds,
    ...omitUndefined({ content, messages, note }),
  });
  const { seq } = decision.state;
  for (const result of results) {
    const run = findRun(decision.state.tools, result.toolCallId);
    if (run !== undefined) finishWithSubmittedResult(decision, run, result);
  }
  if (content !== undefined) sendContent(decision, content, promptId);
  return { status: "accepted", promptId, turnId, seq };
}

/** Sends text along with the results, or as the next prompt if the provider does not support that. */
function sendContent(
  decision: Decision,
  submittedContent: readonly PromptPart[],
  promptId: string,
): void {
  const agent = readAgentSpec(decision);
  if (!agent.provider.injectionPoints.includes("tool-results")) {
    const next = decision.ids.next("prompt");
    return decision.emit({ type: "prompt.accepted", promptId: next, content: submittedContent });
  }
  const messageId = decision.ids.next("msg");
  const content = describeHiddenImages(submittedContent, agent);
  decision.emit({ type: "message.sent", messageId, content, origin: "prompt", promptId });
}

function checkResults(
  decision: Decision,
  { results, content, note }: SubmitResults,
): CommandReply | undefined {
  if (countJsonBytes(results) > MAX_RESULTS_BYTES) {
    const message = `The results have more than ${MAX_RESULTS_BYTES} bytes. Fix: make them smaller`;
    return refuse("invalid_message", message, { path: "results" });
  }
  const contentProblem =
    content === undefined ? undefined : checkContent(content, readAgentSpec(decision));
  return contentProblem ?? checkNote(note);
}

function findResultMismatch(
  { toolCallIds }: Pause,
  results: readonly SubmittedResult[],
): CommandReply | undefined {
  const expectedIds = new Set(toolCallIds);
  const submittedIds = new Set<string>();
  const [unknown, repeated]: [string[], string[]] = [[], []];
  for (const { toolCallId } of results) {
    if (!expectedIds.has(toolCallId)) unknown.push(toolCallId);
    else if (submittedIds.has(toolCallId)) repeated.push(toolCallId);
    submittedIds.add(toolCallId);
  }
  const missing = toolCallIds.filter((id) => !submittedIds.has(id));
  const mismatches = Object.entries({ missing, unknown, repeated })
    .filter(([, ids]) => ids.length > 0)
    .map(([how, ids]) => [how, ids.slice(0, MAX_LISTED_IDS)] as const);
  if (mismatches.length === 0) return undefined;
  const descriptions = mismatches.map(([how, ids]) => `${how}: ${ids.join(", ")}`);
  const message = `Expected one result per pending tool call; ${descriptions.join("; ")}`;
  return refuse("resume_mismatch", message, Object.fromEntries(mismatches));
}

const MAX_LISTED_IDS = 8;
