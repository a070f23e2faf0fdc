import { findItem } from "../../data/chunked-list.ts";
import type { AgentSpec } from "../../domain/agent-spec.ts";
import type { TurnOutcome } from "../../domain/events/turn-events.ts";
import type { PromptOptions } from "../../domain/prompt.ts";
import { admitInvocation } from "../budgets/admit-invocation.ts";
import { measureTurnSeconds } from "../budgets/budgets-state.ts";
import { readAgentSpec, type Decision } from "../decision.ts";
import { advanceToolCalls } from "./advance-tool-calls.ts";
import { finishTurn } from "./finish-turn.ts";
import { handleLostInvocation, type InvocationRequest } from "./handle-lost-invocation.ts";
import { restateLostResults } from "./recovery-messages.ts";
import { resolveUpstream } from "./resolve-upstream.ts";
import { describeHiddenImages } from "./check-prompt.ts";
import { deliverInjections, hasUrgentInjection } from "./injections.ts";
import { recordWake } from "../daemon/daemon-commands.ts";
import type { WakeReason } from "../../domain/events/daemon-events.ts";
import { hasInterrupt, isMessage, type PendingMessage } from "../steering/steering-state.ts";
import type { ToolRun } from "../tools/tools-state.ts";
import { advanceCompaction } from "../transcript/compaction-steps.ts";
import { isToolAllowed } from "../turn-options.ts";
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
 *  └── reprompt, injected message ─────────── ended ───► turn.finished
 * ```
 *
 * - `ready` waits while an uncertain upstream session is brought to rest (`upstream.settled`).
 * - Injected messages and reminders enter with `invocation.started`: with the prompt, with tool results, or after `ended`
 *   (`injections.ts`).
 * - `running-tools` waits for approvals and tools, and for the prompter if the turn is paused (`turn.paused`).
 * - Every stage before an invocation waits for a reservation in the shared budgets, and for an approver if a budget is
 *   reached (`budgets/admit-invocation.ts`).
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
      return advanceToolCalls(decision, current, (request) =>
        startInvocation(decision, current, request),
      );
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

/** Starts the turn of the earliest queued prompt or injected message. */
function startNextTurn(decision: Decision): void {
  if (advanceCompaction(decision, "between-turns")) return;
  const [prompt] = decision.state.turn.queue;
  const { pending } = decision.state.steering;
  const message = pending.length === 0 ? undefined : findItem(pending, isMessage);
  if (message !== undefined && (prompt === undefined || message.seq < prompt.seq))
    return startInjectedTurn(decision, message);
  if (prompt !== undefined) return startTurn(decision, prompt);
  const { wake } = decision.state.daemon;
  if (wake !== null) return startWakeTurn(decision, wake);
  const isDaemon = readAgentSpec(decision).daemon !== undefined;
  // The next pass starts the turn.
  if (isDaemon && hasInterrupt(decision.state.steering)) recordWake(decision, "reminder");
}

/**
 * Starts a turn of a woken daemon, without a prompt. A reminder which woke the daemon is delivered at once: if it stayed
 * pending and the turn ended before its first invocation, the reminder would wake the daemon again and again.
 */
function startWakeTurn(decision: Decision, wake: WakeReason): void {
  const promptId = decision.ids.next("prompt");
  const turnId = decision.ids.next("turn");
  decision.emit({ type: "turn.started", turnId, promptId, wake }, null);
  const { upstream } = decision.state.turn;
  if (upstream !== null) restateLostResults(decision, upstream);
  if (wake === "reminder") return deliverInjections(decision, "turn-start");
  const messageId = decision.ids.next("msg");
  const content = [{ type: "text", text: WAKE_TEXTS[wake] }] as const;
  decision.emit({ type: "message.sent", messageId, content, origin: "wake" }, null);
}

const WAKE_TEXTS = {
  message: "Continue your work.",
  resume: "Your host resumed you. Continue your work, or reply that nothing is left to do.",
  timer: "Your waiting time is over. Check for new work, or reply that nothing is left to do.",
} as const;

/** Turns a message which no turn could take into a prompt. The message keeps its id. */
function startInjectedTurn(
  decision: Decision,
  { id: messageId, content, owner }: PendingMessage,
): void {
  const promptId = decision.ids.next("prompt");
  decision.emit({ type: "prompt.accepted", promptId, content, messageId }, owner);
  const prompt = decision.state.turn.queue.find((queued) => queued.promptId === promptId);
  if (prompt !== undefined) startTurn(decision, prompt, messageId);
}

/** `injectedId`: the injected message which became the prompt. */
function startTurn(decision: Decision, prompt: QueuedPrompt, injectedId?: string): void {
  // The submitter of the prompt is the actor of its turn, even if another client's command or a deadline ended the
  // previous turn.
  const { promptId, submitter } = prompt;
  const content = describeHiddenImages(prompt.content, readAgentSpec(decision));
  if (decision.state.daemon.idleSince !== null) recordWake(decision, "message");
  decision.emit({ type: "turn.started", turnId: decision.ids.next("turn"), promptId }, submitter);
  const { upstream } = decision.state.turn;
  if (upstream !== null) restateLostResults(decision, upstream);
  sendInstructions(decision, prompt);
  const messageId = injectedId ?? decision.ids.next("msg");
  const origin = injectedId === undefined ? "prompt" : "inject";
  decision.emit({ type: "message.sent", messageId, content, origin, promptId }, submitter);
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
  const admission = admitInvocation(decision);
  if (admission.status === "waiting") return;
  if (admission.status === "denied")
    return finishTurn(decision, current, { outcome: "limited", reason: admission.reason });
  // A summary is paid for like an invocation, so a reached budget is asked about first.
  if (mayCompact(decision, current) && advanceCompaction(decision, "invocation")) return;
  // A lost invocation is repeated unchanged.
  if (current.stage.type === "ready") deliverInjections(decision, "turn-start");
  if (current.stage.type === "running-tools") deliverInjections(decision, "tool-results");
  const upstreamId = retryOf?.upstreamId ?? resolveUpstream(decision);
  if (upstreamId === undefined) return;
  const invocationId = admission.invocationId ?? decision.ids.next("inv");
  const repeated = retryOf === undefined ? {} : { retryOf: retryOf.invocationId };
  decision.emit({ type: "invocation.started", invocationId, upstreamId, purpose, ...repeated });
}

/**
 * Whether a compaction may start before this invocation. A lost invocation is handled first. An agent with its own
 * history is compacted only at the start of a turn, because the results of its tool calls belong to its upstream
 * session.
 */
function mayCompact(decision: Decision, { stage, steps }: CurrentTurn): boolean {
  if (stage.type === "invocation-lost") return decision.state.transcript.running !== null;
  if (readAgentSpec(decision).provider.keepsHistory === false) return true;
  return stage.type === "ready" && steps === 0;
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
  current: CurrentTurn,
  { caps }: AgentSpec,
): string | undefined {
  const { steps, usage } = current;
  if (steps >= caps.steps) return "max_steps";
  if (measureTurnSeconds(current, decision.at) >= caps.seconds) return "max_seconds";
  if (caps.tokens !== null && (usage?.totalTokens ?? 0) >= caps.tokens) return "max_tokens";
  return undefined;
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
  if (outcome === "completed" && canContinue(decision, current)) {
    // At a budget which is not extended, the turn ends as without the message, and the message starts the next turn.
    const admission = admitInvocation(decision);
    if (admission.status === "waiting") return;
    if (admission.status === "admitted") return deliverInjections(decision, "turn-end");
  }
  const endFields = { reason, ...omitUndefined({ failure }) };
  finishTurn(decision, current, { outcome: TURN_OUTCOMES[outcome], ...endFields });
}

/**
 * Returns the terminal tool if the turn must still call it. Undefined if it has succeeded or is not allowed in this
 * turn.
 */
export function findMissingTerminalTool(
  runs: readonly ToolRun[],
  { terminalTool }: AgentSpec,
  options: PromptOptions | null,
): string | undefined {
  const name = terminalTool?.name;
  const hasSucceeded = runs.some((run) => run.name === name && run.ending === "succeeded");
  return hasSucceeded || name === undefined || !isToolAllowed(options, name) ? undefined : name;
}

/** At a cap the turn ends as without the message, and the message starts the next turn. */
function canContinue(decision: Decision, current: CurrentTurn): boolean {
  if (!hasUrgentInjection(decision)) return false;
  return findReachedLimit(decision, current, readAgentSpec(decision)) === undefined;
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
