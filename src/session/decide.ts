import { applyDaemonDeadline } from "./daemon/daemon-commands.ts";
import type { Draft } from "../domain/events/envelope.ts";
import { isToolQuestion } from "../domain/policy/approval-decision.ts";
import type { CommandReply } from "../domain/session-command.ts";
import { applyCommand } from "./apply-command.ts";
import { applyWorkerInput } from "./apply-worker-input.ts";
import { resolveWithoutDecision } from "./approvals/approval-requests.ts";
import { applyReservation, applySettlement } from "./budgets/admit-invocation.ts";
import { requestHost, expireHostRequests } from "./clients/host-requests.ts";
import { configureAgent } from "./configure-agent.ts";
import { startDecision, type Decision } from "./decision.ts";
import { recover } from "./recover.ts";
import {
  sanitizeProviderEvent,
  applyInvocationFailure,
  applyProviderEvents,
} from "./turn/apply-provider-events.ts";
import type { TimedInput } from "./session-input.ts";
import type { SessionState } from "./session-state.ts";
import { queueInherited } from "./steering/steering-commands.ts";
import { setMode } from "./set-mode.ts";
import {
  applyResolvedPaths,
  applyProcessExit,
  applyToolEnd,
  applyToolUpdate,
} from "./tools/apply-tool-input.ts";
import { evaluateStart } from "./tools/evaluate-start.ts";
import { finishTool, formatNotRun, formatUnknownOutcome } from "./tools/finish-tool.ts";
import { repeatWaitingCalls, expireWaitingCalls } from "./tools/host-waits.ts";
import { finishUnanswered } from "./tools/questions.ts";
import { findRun } from "./tools/tools-state.ts";
import { recordProjection } from "./transcript/record-projection.ts";
import { applyCompaction, expireCompaction } from "./transcript/compaction-steps.ts";
import { advanceTurn } from "./turn/advance-turn.ts";
import { expirePausedTurn } from "./turn/paused-turn.ts";
import { reportClientToolProblems } from "./turn/turn-commands.ts";
import { reseedUpstream, settleUpstream } from "./turn/resolve-upstream.ts";
import { reportFileChanges } from "./report-file-changes.ts";
import { expireWatches } from "./watches/watch-commands.ts";
import { omitUndefined } from "../data/omit-undefined.ts";

export interface DecisionResult {
  readonly events: readonly Draft[];
  /** The state after all events. */
  readonly state: SessionState;
  /** Present if the input was a command. */
  readonly reply?: CommandReply;
}

/**
 * Decides the consequences of an input. Pure: the caller appends the events to the log and then performs the due
 * effects.
 */
export function decide(state: SessionState, input: TimedInput): DecisionResult {
  if (input.type === "open-requested" && input.firstCommand !== undefined)
    return decideOpenWithCommand(state, input);
  const decision = startDecision(state, input);
  const reply = applyInput(decision, input);
  // A refused command changes nothing, not even state affected by time.
  if (decision.state.agent !== null && reply?.status !== "refused") advanceTurn(decision);
  const replied = reply === undefined ? {} : { reply: addTurnId(reply, decision) };
  return { events: decision.drafts, state: decision.state, ...replied };
}

/** Opens a session and applies its first command. Both share one seed, because opening creates no ids. */
function decideOpenWithCommand(
  state: SessionState,
  input: Extract<TimedInput, { type: "open-requested" }>,
): DecisionResult {
  const { firstCommand, ...opened } = input;
  const { at, seed } = input;
  const openResult = decide(state, opened);
  if (firstCommand === undefined) return openResult;
  const commandResult = decide(openResult.state, { ...firstCommand, at, seed });
  return { ...commandResult, events: [...openResult.events, ...commandResult.events] };
}

/** Adds the turn id to the reply if the prompt started its turn in the same decision. */
function addTurnId(reply: CommandReply, { state }: Decision): CommandReply {
  const { current } = state.turn;
  if (reply.status === "refused" || reply.promptId === undefined || current === null) return reply;
  return current.promptId === reply.promptId ? { ...reply, turnId: current.turnId } : reply;
}

/**
 * Whether an input is decided again with `changedFiles`: an invocation starts, and the agent has read or written files.
 */
export function needsChangedFiles({ events, state }: DecisionResult): boolean {
  if (state.steering.files.length === 0) return false;
  return events.some(({ event }) => event.type === "invocation.started");
}

function applyInput(decision: Decision, input: TimedInput): CommandReply | undefined {
  switch (input.type) {
    case "open-requested":
      openSession(decision, input);
      return undefined;
    case "command-received":
      return applyCommand(decision, input);
    case "provider-events":
      applyProviderEvents(decision, input.invocationId, input.outputs.map(sanitizeProviderEvent));
      return undefined;
    case "invocation-failed":
      applyInvocationFailure(decision, input);
      return undefined;
    case "paths-resolved":
      applyResolvedPaths(decision, input);
      return undefined;
    case "process-started":
    case "tool-progress":
      applyToolUpdate(decision, input);
      return undefined;
    case "process-exited":
      applyProcessExit(decision, input);
      return undefined;
    case "tool-finished":
      applyToolEnd(decision, input);
      return undefined;
    case "upstream-settled":
      settleUpstream(decision, input);
      return undefined;
    case "budget-checked":
      applyReservation(decision, input);
      return undefined;
    case "budget-settled":
      applySettlement(decision, input);
      return undefined;
    case "compaction-finished":
      // An agent with its own history continues in a new upstream session with the compacted conversation.
      if (applyCompaction(decision, input)) reseedUpstream(decision);
      return undefined;
    case "transcript-projected":
      recordProjection(decision, input);
      return undefined;
    case "files-changed":
      reportFileChanges(decision, input);
      return undefined;
    case "host-requested":
      requestHost(decision, input);
      return undefined;
    case "agent-changed":
      if (decision.state.agent?.digest !== input.agent.digest)
        configureAgent(decision, input.agent);
      if (input.startingTool !== undefined) evaluateStart(decision, input.startingTool);
      repeatWaitingCalls(decision);
      return undefined;
    case "worker-finished":
    case "worker-approval-requested":
    case "worker-approval-resolved":
    case "worker-closed":
      applyWorkerInput(decision, input);
      return undefined;
    case "client-tools-failed":
      reportClientToolProblems(decision, input.problems);
      return undefined;
    case "time-passed":
      applyDeadlines(decision);
      return undefined;
    case "recovery-started":
      recover(decision, input);
      return undefined;
    default:
      return input satisfies never;
  }
}

function openSession(
  decision: Decision,
  input: Extract<TimedInput, { readonly type: "open-requested" }>,
): void {
  const { agent, principal, title, workingDirectory, label, upstreamId, history, mode } = input;
  const { folders = [], metadata, lineage, budget, reminders = [] } = input;
  decision.emit({
    type: "session.opened",
    agent: agent.spec.name,
    principal,
    ...omitUndefined({ title, workingDirectory, label, upstreamId, lineage, budget }),
  });
  if (metadata !== undefined) decision.emit({ type: "session.metadata_changed", metadata });
  if (folders.length > 0) decision.emit({ type: "session.folders_changed", folders });
  configureAgent(decision, agent);
  if (history !== undefined) decision.emit({ type: "history.imported", messages: history });
  if (mode !== undefined) setMode(decision, mode);
  queueInherited(decision, reminders);
}

/** Resolves everything whose deadline has passed. An expired approval request is never approved. */
function applyDeadlines(decision: Decision): void {
  expireWaitingCalls(decision);
  for (const request of decision.state.approvals.pending) {
    const { question, subjectId, deadline, worker } = request;
    // The session of a worker applies the deadline of its requests.
    if (deadline > decision.at || worker !== undefined) continue;
    resolveWithoutDecision(decision, request, "deadline");
    if (question === "question") finishUnanswered(decision, request);
    if (isToolQuestion(question)) closeExpiredTool(decision, subjectId, question);
  }
  expirePausedTurn(decision);
  applyDaemonDeadline(decision);
  expireCompaction(decision);
  expireHostRequests(decision);
  expireWatches(decision);
}

function closeExpiredTool(
  decision: Decision,
  toolCallId: string,
  question: "run" | "outcome",
): void {
  const run = findRun(decision.state.tools, toolCallId);
  if (run === undefined) return;
  const [ending, text] =
    question === "run"
      ? (["denied", `${formatNotRun(run)}: its approval request expired.`] as const)
      : (["unknown", formatUnknownOutcome(run)] as const);
  finishTool(decision, run, { ending, text });
}
