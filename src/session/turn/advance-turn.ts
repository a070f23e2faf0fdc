import type { AgentSpec } from "../../domain/agent-spec.ts";
import type { TurnOutcome } from "../../domain/events/turn-events.ts";
import { advanceTools } from "../tools/advance-tools.ts";
import { isHandedOut, isNeverStarted, isOpen, type ToolRun } from "../tools/tools-state.ts";
import { readAgentSpec, type Decision } from "../decision.ts";
import { finishTurn } from "./finish-turn.ts";
import { handleLostInvocation, type InvocationRequest } from "./handle-lost-invocation.ts";
import { restateLostResults } from "./recovery-messages.ts";
import { resolveUpstream } from "./resolve-upstream.ts";
import { pauseTurn } from "./paused-turn.ts";
import { describeHiddenImages } from "./check-prompt.ts";
import { resolveToolCallLimit } from "../turn-options.ts";
import { findMissingTerminalTool } from "./turn-progress.ts";
import type { CurrentTurn, QueuedPrompt, Stage } from "./turn-state.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/**
 * Advances the turn as far as possible without further input. The stage (`turn-state.ts`) changes only through events:
 *
 * ```
 *       turn.started
 *            │
 *            ▼
 *  ┌──────► ready ─── invocation.started ──► invoking ◄──── invocation.started ───┐
 *  │         ▲                                │ │ │ │                             │
 *  │         └────── provider is busy ────────┘ │ │ └─ tool calls ► running-tools ┤
 *  │              (conflict, ≤ 8 times)         │ └─── lost ► invocation-lost ────┘
 *  │                                            ▼ invocation.finished
 *  └── reprompt: terminal tool not called ─── ended ───► turn.finished
 * ```
 *
 * - `ready` waits while an uncertain upstream session is brought to rest (`upstream.settled`).
 * - `running-tools` waits for approvals and tools, and for the prompter if the turn is paused (`turn.paused`).
 * - `invocation-lost` waits for an approver if the policy is `ask`; the decision `stop` ends the turn.
 * - Every stage can end with `turn.finished`: on a cancel, at a cap, or after a failure.
 */
export function advanceTurn(decision: Decision): void {
  let draftCount;
  do {
    draftCount = decision.drafts.length;
    advanceOnce(decision);
  } while (decision.drafts.length > draftCount);
}

function advanceOnce(decision: Decision): void {
  const { current } = decision.state.turn;
  if (current === null) return startNextTurn(decision);
  switch (current.stage.type) {
    case "ready":
      return startInvocation(decision, current, { purpose: current.stage.purpose });
    case "invoking":
      return;
    case "running-tools":
      return advanceToolCalls(decision, current);
    case "invocation-lost":
      return handleLostInvocation(decision, current, (request) =>
        startInvocation(decision, current, request),
      );
    case "ended":
      return endTurn(decision, current, current.stage);
    default:
      current.stage satisfies never;
  }
}

function startNextTurn(decision: Decision): void {
  const [prompt] = decision.state.turn.queue;
  if (prompt === undefined) return;
  // The submitter of the prompt is the actor of its turn, even if another client's command or a deadline ended the
  // previous turn.
  const { promptId, submitter } = prompt;
  const content = describeHiddenImages(prompt.content, readAgentSpec(decision));
  decision.emit({ type: "turn.started", turnId: decision.ids.next("turn"), promptId }, submitter);
  restateLostResults(decision);
  sendInstructions(decision, prompt);
  const messageId = decision.ids.next("msg");
  decision.emit(
    { type: "message.sent", messageId, content, origin: "prompt", promptId },
    submitter,
  );
}

/** Sends instructions as text to a provider without support for them: once, and again when they change. */
function sendInstructions(decision: Decision, { promptId, options }: QueuedPrompt): void {
  const { instructions } = options ?? {};
  if (
    instructions === undefined ||
    readAgentSpec(decision).provider.capabilities?.instructions === true
  )
    return;
  if (instructions === decision.state.turn.sentInstructions) return;
  const messageId = decision.ids.next("msg");
  const content = [{ type: "text", text: instructions }] as const;
  decision.emit({ type: "message.sent", messageId, content, origin: "instructions", promptId });
}

function startInvocation(
  decision: Decision,
  current: CurrentTurn,
  { purpose, retryOf }: InvocationRequest,
): void {
  const limit = findReachedLimit(decision, current, readAgentSpec(decision));
  if (limit !== undefined)
    return finishTurn(decision, current, { outcome: "limited", reason: limit });
  if (current.conflicts > MAX_CONFLICTS) return finishTurn(decision, current, BUSY);
  const upstreamId = retryOf?.upstreamId ?? resolveUpstream(decision);
  if (upstreamId === undefined) return;
  const invocationId = decision.ids.next("inv");
  const repeated = retryOf === undefined ? {} : { retryOf: retryOf.invocationId };
  decision.emit({ type: "invocation.started", invocationId, upstreamId, purpose, ...repeated });
}

const MAX_CONFLICTS = 8;
const BUSY = {
  outcome: "failed",
  reason: null,
  failure: {
    code: "conflict",
    message: "The agent is still busy with an earlier request. Fix: try again later",
    details: {},
  },
} as const;

/** Returns the cap reached by this turn. Checked only before an invocation: a running one is already paid for. */
function findReachedLimit(
  decision: Decision,
  { steps, startedAt, waitedMs, usage }: CurrentTurn,
  { caps }: AgentSpec,
): string | undefined {
  if (steps >= caps.steps) return "max_steps";
  if (decision.at - startedAt - waitedMs >= caps.seconds * 1000) return "max_seconds";
  if (caps.tokens !== null && (usage?.totalTokens ?? 0) >= caps.tokens) return "max_tokens";
  return undefined;
}

function advanceToolCalls(decision: Decision, current: CurrentTurn): void {
  const { runs } = decision.state.tools;
  if ((decision.state.turn.upstream?.pendingToolCalls ?? null) === null) {
    const message = "The agent stopped for tool calls but named none";
    const failure = { code: "protocol_error", message, details: {} } as const;
    return finishTurn(decision, current, { outcome: "failed", reason: null, failure });
  }
  const open = runs.filter(isOpen);
  const invalid =
    readAgentSpec(decision).invalidToolInput === "fail" ? open.find(hasInvalidInput) : undefined;
  if (invalid !== undefined) return finishTurn(decision, current, createInvalidInputEnd(invalid));
  if (open.length === 0) return startInvocation(decision, current, { purpose: "results" });
  if (open.every(isHandedOut)) return pauseTurn(decision, current, open);
  const startLimit =
    resolveToolCallLimit(readAgentSpec(decision), current.options) - current.toolsStarted;
  const draftCount = decision.drafts.length;
  advanceTools(decision, startLimit);
  if (startLimit > 0 || decision.drafts.length > draftCount) return;
  if (open.filter((run) => !isHandedOut(run)).every(isNeverStarted)) {
    finishTurn(decision, current, { outcome: "limited", reason: "max_tool_calls" });
  }
}

function hasInvalidInput({ toolCall }: ToolRun): boolean {
  return toolCall?.runBy === "client" && toolCall.inputError !== undefined;
}

function createInvalidInputEnd({ name, toolCallId, toolCall: call }: ToolRun) {
  const reason = call?.inputError?.message ?? "";
  const message = `The agent called ${name} with arguments that are not a JSON object: ${reason}`;
  const details = { tool: name, toolCallId };
  const failure = { code: "invalid_tool_input", message, details } as const;
  return { outcome: "failed", reason: null, failure } as const;
}

function endTurn(
  decision: Decision,
  current: CurrentTurn,
  stage: Extract<Stage, { type: "ended" }>,
): void {
  const { outcome, reason, failure } = stage;
  const missing = findMissingTerminalTool(
    decision.state.tools.runs,
    readAgentSpec(decision),
    current.options,
  );
  // A failed call of the terminal tool does not count.
  if (outcome === "completed" && missing !== undefined) return reprompt(decision, current);
  const endFields = { reason, ...omitUndefined({ failure }) };
  finishTurn(decision, current, { outcome: TURN_OUTCOMES[outcome], ...endFields });
}

const TURN_OUTCOMES: {
  readonly [Ended in Extract<Stage, { type: "ended" }>["outcome"]]: TurnOutcome;
} = {
  completed: "completed",
  limited: "limited",
  // The meaning of the provider's reason is unknown; the content is valid.
  other: "limited",
  failed: "failed",
  refused: "failed",
  cancelled: "cancelled",
};

/** Tells an agent to call its terminal tool. Ends the turn as `limited` after `maxReprompts` attempts. */
function reprompt(decision: Decision, current: CurrentTurn): void {
  const { name = "", maxReprompts = 0 } = readAgentSpec(decision).terminalTool ?? {};
  if (current.reprompts >= maxReprompts) {
    return finishTurn(decision, current, { outcome: "limited", reason: "no_terminal_tool" });
  }
  const messageId = decision.ids.next("msg");
  const text = `You have not called ${name} yet. Call it now to finish.`;
  const content = [{ type: "text", text }] as const;
  decision.emit({ type: "message.sent", messageId, content, origin: "reprompt" });
}
