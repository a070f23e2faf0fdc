import type { Worker } from "../../domain/workers/worker.ts";
import { appendItem } from "../../data/chunked-list.ts";
import type { Draft } from "../../domain/events/envelope.ts";
import type { SessionEvent } from "../../domain/events/session-event.ts";
import type { ToolFinished } from "../../domain/events/tool-events.ts";
import type { MessageSent, TurnStarted, UpstreamOpened } from "../../domain/events/turn-events.ts";
import { isTurnRejected } from "../../domain/provider/invocation-outcome.ts";
import { evolveInvocation } from "./evolve-invocation.ts";
import {
  applyInvocationFinished,
  applyInvocationLost,
  applyInvocationStarted,
} from "./invocation-steps.ts";
import {
  hasUnsentContent,
  withStage,
  withUpstream,
  type CurrentTurn,
  type Stage,
  type TurnState,
  type Upstream,
} from "./turn-state.ts";

/** `previous`: time and log position of the previous event, and the workers before the event. */
export function evolveTurn(
  turn: TurnState,
  { event, at, actor }: Draft,
  previous: {
    readonly at: number;
    readonly seq: number;
    readonly workers: { readonly open: readonly Worker[] };
  },
): TurnState {
  switch (event.type) {
    case "session.opened":
      return { ...turn, firstUpstreamId: event.upstreamId ?? null };
    case "history.imported":
      return { ...turn, isHistoryImported: true };
    case "prompt.accepted": {
      const { promptId, content, options = null } = event;
      return {
        ...turn,
        queue: [
          ...turn.queue,
          { promptId, seq: previous.seq + 1, content, options, submitter: actor ?? null },
        ],
      };
    }
    case "prompt.withdrawn":
      return { ...turn, queue: turn.queue.filter(({ promptId }) => promptId !== event.promptId) };
    case "turn.started":
      return startTurn(turn, event, at);
    case "turn.finished": {
      // A rejected turn did not deliver its instructions.
      const sentInstructions = isTurnRejected(event) ? null : (turn.current?.instructions ?? null);
      return {
        ...turn,
        current: null,
        sentInstructions: sentInstructions ?? turn.sentInstructions,
      };
    }
    case "session.recovered":
      return turn.current === null
        ? turn
        : { ...turn, current: skipDowntime(turn.current, previous.at, at) };
    case "upstream.opened":
      return openUpstream(turn, event, at);
    case "upstream.settled":
      return withUpstream(turn, { isUncertain: false });
    case "tool.finished": {
      const withToolResult = addToolResult(turn, event);
      return withToolResult.current === null
        ? withToolResult
        : applyStreamEvent(withToolResult, withToolResult.current, event);
    }
    default:
      if (turn.current === null || isOfOtherTurn(event, turn.current, previous.workers.open))
        return turn;
      return evolveCurrentTurn(turn, turn.current, event, at);
  }
}

/** The request of a worker stops the clock of the turn which started the worker, and of no other turn. */
function isOfOtherTurn(
  event: SessionEvent,
  { turnId }: CurrentTurn,
  workers: readonly Worker[],
): boolean {
  const through =
    event.type === "approval.requested"
      ? event.worker?.through
      : event.type === "approval.resolved"
        ? event.through
        : undefined;
  if (through === undefined) return false;
  return workers.find(({ workerId }) => workerId === through)?.turnId !== turnId;
}

function startTurn(turn: TurnState, { turnId, promptId }: TurnStarted, at: number): TurnState {
  const prompt = turn.queue.find((queued) => queued.promptId === promptId);
  const current: CurrentTurn = {
    turnId,
    promptId,
    submitter: prompt?.submitter ?? null,
    options: prompt?.options ?? null,
    startedAt: at,
    waitedMs: 0,
    waitingSince: null,
    pendingWaits: 0,
    pause: null,
    steps: 0,
    usage: null,
    toolsStarted: 0,
    reprompts: 0,
    conflicts: 0,
    instructions: null,
    unsentTexts: [],
    unsentImages: [],
    stage: { type: "ready", purpose: "prompt" },
  };
  return { ...turn, queue: turn.queue.filter((queued) => queued !== prompt), current };
}

function openUpstream(
  turn: TurnState,
  { upstreamId, seeded }: UpstreamOpened,
  at: number,
): TurnState {
  const upstream: Upstream = {
    upstreamId,
    isSeeded: seeded,
    openedAt: at,
    usedAt: at,
    invocationCount: 0,
    hasResponded: false,
    isUncertain: false,
    unconfirmedResults: null,
    // Pending results move to the new upstream session. With unsent content they do not: they then become part of
    // the seeded history.
    pendingToolCalls: hasUnsentContent(turn.current)
      ? null
      : (turn.upstream?.pendingToolCalls ?? null),
  };
  return { ...turn, upstream };
}

function evolveCurrentTurn(
  turn: TurnState,
  current: CurrentTurn,
  event: SessionEvent,
  pausedAt: number,
): TurnState {
  switch (event.type) {
    case "message.sent":
      return { ...turn, current: addSentMessage(current, event) };
    case "invocation.started":
      return applyInvocationStarted(turn, current, event, pausedAt);
    case "invocation.finished":
      return applyInvocationFinished(turn, current, event, pausedAt);
    case "invocation.lost":
      return applyInvocationLost(turn, current, event);
    case "turn.paused": {
      const { toolCallIds } = event;
      return {
        ...turn,
        current: { ...startWait(current, pausedAt), pause: { pausedAt, toolCallIds } },
      };
    }
    case "tool_results.submitted":
      return { ...turn, current: { ...endWait(current, pausedAt), pause: null } };
    case "approval.requested": {
      const { stage } = current;
      const waitingTurn = startWait(current, pausedAt);
      if (event.question !== "lost-invocation" || stage.type !== "invocation-lost")
        return { ...turn, current: waitingTurn };
      return withStage(turn, waitingTurn, { ...stage, approvalId: event.approvalId });
    }
    case "approval.resolved": {
      const { stage } = current;
      const resumedTurn = endWait(current, pausedAt);
      if (stage.type !== "invocation-lost" || stage.approvalId !== event.approvalId) {
        return { ...turn, current: resumedTurn };
      }
      return withStage(turn, resumedTurn, { ...stage, decision: event.decision });
    }
    case "tool.started": {
      // A further attempt belongs to the same tool call.
      const toolsStarted = current.toolsStarted + (event.attempt === 1 ? 1 : 0);
      return { ...turn, current: { ...current, toolsStarted } };
    }
    default:
      return applyStreamEvent(turn, current, event);
  }
}

function addSentMessage(current: CurrentTurn, { content, origin }: MessageSent): CurrentTurn {
  const sentTexts = content.flatMap((part) => (part.type === "text" ? [part.text] : []));
  const images = content.flatMap((part) => (part.type === "image" ? [part] : []));
  const unsentTexts = sentTexts.reduce(appendItem, current.unsentTexts);
  const unsentImages =
    images.length === 0 ? current.unsentImages : [...current.unsentImages, ...images];
  if (origin !== "reprompt") {
    const instructions = origin === "instructions" ? sentTexts.join("\n\n") : current.instructions;
    // An injection continues a turn which would have ended.
    const stage: Stage =
      current.stage.type === "ended" ? { type: "ready", purpose: "injection" } : current.stage;
    return { ...current, unsentTexts, unsentImages, instructions, stage };
  }
  const reprompts = current.reprompts + 1;
  const stage: Stage = { type: "ready", purpose: "reprompt" };
  return { ...current, unsentTexts, reprompts, stage };
}

function applyStreamEvent(turn: TurnState, current: CurrentTurn, event: SessionEvent): TurnState {
  const { stage } = current;
  if (stage.type !== "invoking") return turn;
  const invocation = evolveInvocation(stage.invocation, event);
  return invocation === stage.invocation
    ? turn
    : withStage(turn, current, { type: "invoking", invocation });
}

function addToolResult(turn: TurnState, { toolCallId, result }: ToolFinished): TurnState {
  const waiting = turn.upstream?.pendingToolCalls;
  if (waiting === undefined || waiting === null) return turn;
  const at = waiting.toolCalls.findIndex((call) => call.toolCallId === toolCallId);
  const call = waiting.toolCalls[at];
  if (call === undefined) return turn;
  const toolCalls = waiting.toolCalls.with(at, { ...call, result });
  return withUpstream(turn, { pendingToolCalls: { ...waiting, toolCalls } });
}

/** Stops the clock of the turn while a person is waited for. */
function startWait(current: CurrentTurn, at: number): CurrentTurn {
  const { pendingWaits, waitingSince } = current;
  return { ...current, pendingWaits: pendingWaits + 1, waitingSince: waitingSince ?? at };
}

/** Restarts the clock of the turn when the last open wait ends. */
function endWait(current: CurrentTurn, at: number): CurrentTurn {
  const { pendingWaits: questions, waitingSince: askedAt, waitedMs } = current;
  if (questions > 1) return { ...current, pendingWaits: questions - 1 };
  const waited = askedAt === null ? 0 : Math.max(0, at - askedAt);
  return { ...current, pendingWaits: 0, waitingSince: null, waitedMs: waitedMs + waited };
}

/** Excludes the time since the previous event: no process ran the turn. An open wait already excludes this time. */
function skipDowntime(current: CurrentTurn, lastEventAt: number, at: number): CurrentTurn {
  if (current.waitingSince !== null) return current;
  return { ...current, waitedMs: current.waitedMs + Math.max(0, at - lastEventAt) };
}
