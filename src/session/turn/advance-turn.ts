import type { AgentFacts, TurnOutcome } from "../../domain/agent-event.ts";
import { advanceTools } from "../tools/advance-tools.ts";
import { isHandedOut, isNeverStarted, isOpen, type ToolRun } from "../tools/tools-state.ts";
import { agentOf, type Work } from "../work.ts";
import { finish } from "./finish-turn.ts";
import { followLoss, type WantedCall } from "./follow-loss.ts";
import { sayWhatIsUnheard } from "./say-again.ts";
import { openUpstream } from "./open-upstream.ts";
import { pauseTurn } from "./paused-turn.ts";
import { shownContent } from "./shown-content.ts";
import { toolCallsIn } from "../turn-options.ts";
import { missingTerminalTool } from "./turn-progress.ts";
import type { CurrentTurn, QueuedPrompt, Stage } from "./turn-state.ts";

/** Takes every step that now follows of itself, until something has to happen first. */
export function advanceTurn(work: Work): void {
  let before;
  do {
    before = work.drafts.length;
    advanceOnce(work);
  } while (work.drafts.length > before);
}

function advanceOnce(work: Work): void {
  const { current } = work.state.turn;
  if (current === null) return startNext(work);
  switch (current.stage.type) {
    case "ready":
      return makeCall(work, current, { purpose: current.stage.purpose });
    case "calling":
      return;
    case "acting":
      return act(work, current);
    case "lost":
      return followLoss(work, current, (wanted) => makeCall(work, current, wanted));
    case "ended":
      return end(work, current, current.stage);
    default:
      current.stage satisfies never;
  }
}

function startNext(work: Work): void {
  const [prompt] = work.state.turn.queue;
  if (prompt === undefined) return;
  // The turn is the prompter's, also if another client's command, or no command, ended the turn before it.
  const { promptId, by } = prompt;
  const content = shownContent(prompt.content, agentOf(work));
  work.emit({ type: "turn.started", turnId: work.ids.next("turn"), promptId }, by);
  sayWhatIsUnheard(work);
  sendInstructions(work, prompt);
  const messageId = work.ids.next("msg");
  work.emit({ type: "message.sent", messageId, content, origin: "prompt", promptId }, by);
}

/** An agent whose provider has no place for instructions is sent them as text, once and again when they change. */
function sendInstructions(work: Work, { promptId, options }: QueuedPrompt): void {
  const { instructions } = options ?? {};
  if (instructions === undefined || agentOf(work).provider.takes?.instructions === true) return;
  if (instructions === work.state.turn.sentInstructions) return;
  const messageId = work.ids.next("msg");
  const content = [{ type: "text", text: instructions }] as const;
  work.emit({ type: "message.sent", messageId, content, origin: "instructions", promptId });
}

function makeCall(work: Work, current: CurrentTurn, { purpose, again }: WantedCall): void {
  const limit = limitReached(work, current, agentOf(work));
  if (limit !== undefined) return finish(work, current, { outcome: "limited", reason: limit });
  if (current.conflicts > MAX_CONFLICTS) return finish(work, current, BUSY);
  const upstreamId = again?.upstreamId ?? openUpstream(work);
  if (upstreamId === undefined) return;
  const callId = work.ids.next("call");
  const repeated = again === undefined ? {} : { again: again.callId };
  work.emit({ type: "call.started", callId, upstreamId, purpose, ...repeated });
}

const MAX_CONFLICTS = 8;
const BUSY = {
  outcome: "failed",
  reason: null,
  failure: {
    code: "conflict",
    message: "The agent is still busy with an earlier call; try again later",
    details: {},
  },
} as const;

/** Before a call is bought, never in the middle of one. */
function limitReached(
  work: Work,
  { steps, startedAt, waitedMs, usage }: CurrentTurn,
  { caps }: AgentFacts,
): string | undefined {
  if (steps >= caps.steps) return "max_steps";
  if (work.at - startedAt - waitedMs >= caps.seconds * 1000) return "max_seconds";
  if (caps.tokens !== null && (usage?.totalTokens ?? 0) >= caps.tokens) return "max_tokens";
  return undefined;
}

function act(work: Work, current: CurrentTurn): void {
  const { runs } = work.state.tools;
  if ((work.state.turn.upstream?.waiting ?? null) === null) {
    const message = "The agent stopped for tools, and named none";
    const failure = { code: "protocol_error", message, details: {} } as const;
    return finish(work, current, { outcome: "failed", reason: null, failure });
  }
  const open = runs.filter(isOpen);
  const invalid =
    agentOf(work).invalidToolInput === "fail" ? open.find(hasInvalidInput) : undefined;
  if (invalid !== undefined) return finish(work, current, invalidInput(invalid));
  if (open.length === 0) return makeCall(work, current, { purpose: "results" });
  if (open.every(isHandedOut)) return pauseTurn(work, current, open);
  const mayStart = toolCallsIn(agentOf(work), current.options) - current.toolsStarted;
  const decided = work.drafts.length;
  advanceTools(work, mayStart);
  if (mayStart > 0 || work.drafts.length > decided) return;
  if (open.filter((run) => !isHandedOut(run)).every(isNeverStarted)) {
    finish(work, current, { outcome: "limited", reason: "max_tool_calls" });
  }
}

function hasInvalidInput({ call }: ToolRun): boolean {
  return call?.runBy === "client" && call.inputError !== undefined;
}

function invalidInput({ name, toolCallId, call }: ToolRun) {
  const reason = call?.inputError?.message ?? "";
  const message = `The agent called ${name} with arguments that are not a JSON object: ${reason}`;
  const details = { tool: name, toolCallId };
  const failure = { code: "invalid_tool_input", message, details } as const;
  return { outcome: "failed", reason: null, failure } as const;
}

function end(work: Work, current: CurrentTurn, stage: Extract<Stage, { type: "ended" }>): void {
  const { outcome, reason, failure } = stage;
  const missing = missingTerminalTool(work.state.tools.runs, agentOf(work), current.options);
  // A call of it that failed does not count.
  if (outcome === "completed" && missing !== undefined) return askAgain(work, current);
  const how = { reason, ...(failure !== undefined && { failure }) };
  finish(work, current, { outcome: OUTCOMES[outcome], ...how });
}

const OUTCOMES: { readonly [Ended in Extract<Stage, { type: "ended" }>["outcome"]]: TurnOutcome } =
  {
    completed: "completed",
    limited: "limited",
    // What the provider's word means is not known; what was said stands.
    other: "limited",
    failed: "failed",
    refused: "failed",
    cancelled: "cancelled",
  };

/** An agent that has to end with a certain tool, and did not, is told so. */
function askAgain(work: Work, current: CurrentTurn): void {
  const { name = "", maxReprompts = 0 } = agentOf(work).terminalTool ?? {};
  if (current.reprompts >= maxReprompts) {
    return finish(work, current, { outcome: "limited", reason: "no_terminal_tool" });
  }
  const messageId = work.ids.next("msg");
  const text = `You have not called ${name} yet. Call it now to finish.`;
  const content = [{ type: "text", text }] as const;
  work.emit({ type: "message.sent", messageId, content, origin: "reprompt" });
}
