import type {
  AgentEvent,
  CallFinished,
  CallStarted,
  ToolFinished,
} from "../../domain/agent-event.ts";
import type { Draft } from "../../domain/envelope.ts";
import { addUsage } from "../../domain/usage.ts";
import { isNotMade } from "./call-fate.ts";
import { evolveCall, messagesOf, openCallsOf } from "./evolve-call.ts";
import {
  isSpeaking,
  type Call,
  type CurrentTurn,
  type Outgoing,
  type Stage,
  type TurnState,
  type Upstream,
  type WaitingCall,
} from "./turn-state.ts";

/** `lastAt` is when the event before this one was written. */
export function evolveTurn(
  turn: TurnState,
  { event, at, actor }: Draft,
  lastAt: number,
): TurnState {
  switch (event.type) {
    case "session.opened":
      return { ...turn, firstUpstreamId: event.upstreamId ?? null };
    case "history.given":
      return { ...turn, isHistoryGiven: true };
    case "prompt.accepted": {
      const { promptId, content, options = null } = event;
      return { ...turn, queue: [...turn.queue, { promptId, content, options, by: actor ?? null }] };
    }
    case "prompt.withdrawn":
      return { ...turn, queue: turn.queue.filter(({ promptId }) => promptId !== event.promptId) };
    case "turn.started": {
      const { turnId, promptId } = event;
      const prompt = turn.queue.find((queued) => queued.promptId === promptId);
      const current: CurrentTurn = {
        turnId,
        promptId,
        by: prompt?.by ?? null,
        options: prompt?.options ?? null,
        startedAt: at,
        waitedMs: 0,
        askedAt: null,
        questions: 0,
        pause: null,
        steps: 0,
        usage: null,
        toolsStarted: 0,
        reprompts: 0,
        conflicts: 0,
        unsent: [],
        unsentImages: [],
        stage: { type: "ready", purpose: "prompt" },
      };
      return { ...turn, queue: turn.queue.filter((queued) => queued !== prompt), current };
    }
    case "turn.finished":
      return { ...turn, current: null };
    case "session.recovered":
      return turn.current === null
        ? turn
        : { ...turn, current: withoutAbsence(turn.current, lastAt, at) };
    case "upstream.opened": {
      const { upstreamId, seeded } = event;
      const upstream: Upstream = {
        upstreamId,
        isSeeded: seeded,
        openedAt: at,
        usedAt: at,
        calls: 0,
        isHeard: false,
        isUncertain: false,
        unheard: null,
        // Results that were about to go go there; with something new to say, they are part of what was said before.
        waiting: isSpeaking(turn.current) ? null : (turn.upstream?.waiting ?? null),
      };
      return { ...turn, upstream };
    }
    case "upstream.settled":
      return withUpstream(turn, { isUncertain: false });
    case "tool.finished": {
      const answered = withResult(turn, event);
      return answered.current === null ? answered : said(answered, answered.current, event);
    }
    default:
      return turn.current === null ? turn : evolveCurrent(turn, turn.current, event, at);
  }
}

function evolveCurrent(
  turn: TurnState,
  current: CurrentTurn,
  event: AgentEvent,
  at: number,
): TurnState {
  switch (event.type) {
    case "message.sent": {
      const { content } = event;
      const said = content.flatMap((part) => (part.type === "text" ? [part.text] : []));
      const images = content.flatMap((part) => (part.type === "image" ? [part] : []));
      const unsent = [...current.unsent, ...said];
      const unsentImages = [...current.unsentImages, ...images];
      if (event.origin !== "reprompt") {
        return { ...turn, current: { ...current, unsent, unsentImages } };
      }
      const reprompts = current.reprompts + 1;
      const stage: Stage = { type: "ready", purpose: "reprompt" };
      return { ...turn, current: { ...current, unsent, reprompts, stage } };
    }
    case "call.started":
      return started(turn, current, event, at);
    case "call.finished":
      return finished(turn, current, event, at);
    case "call.lost": {
      if (current.stage.type !== "calling") return turn;
      const { call } = current.stage;
      const { failure } = event;
      const stage: Stage = { type: "lost", call, ...(failure !== undefined && { failure }) };
      const isHeard = call.messages.length > 0 || turn.upstream?.isHeard === true;
      const unheard = call.outgoing.answers ?? turn.upstream?.unheard ?? null;
      return withUpstream(staged(turn, current, stage), { isUncertain: true, isHeard, unheard });
    }
    case "turn.paused": {
      const { toolCallIds } = event;
      return { ...turn, current: { ...withQuestion(current, at), pause: { at, toolCallIds } } };
    }
    case "results.given":
      return { ...turn, current: { ...withAnswer(current, at), pause: null } };
    case "approval.requested": {
      const { stage } = current;
      const asking = withQuestion(current, at);
      if (event.question !== "lost-call" || stage.type !== "lost")
        return { ...turn, current: asking };
      return staged(turn, asking, { ...stage, approvalId: event.approvalId });
    }
    case "approval.resolved": {
      const { stage } = current;
      const answered = withAnswer(current, at);
      if (stage.type !== "lost" || stage.approvalId !== event.approvalId) {
        return { ...turn, current: answered };
      }
      return staged(turn, answered, { ...stage, decision: event.decision });
    }
    case "tool.started": {
      // Another attempt is the same call.
      const toolsStarted = current.toolsStarted + (event.attempt === 1 ? 1 : 0);
      return { ...turn, current: { ...current, toolsStarted } };
    }
    default:
      return said(turn, current, event);
  }
}

/** While somebody is waited for, the clock of the turn stands still. */
function withQuestion(current: CurrentTurn, at: number): CurrentTurn {
  const { questions, askedAt } = current;
  return { ...current, questions: questions + 1, askedAt: askedAt ?? at };
}

/** The clock of the turn goes on when nobody is asked any more. */
function withAnswer(current: CurrentTurn, at: number): CurrentTurn {
  const { questions, askedAt, waitedMs } = current;
  if (questions > 1) return { ...current, questions: questions - 1 };
  const waited = askedAt === null ? 0 : Math.max(0, at - askedAt);
  return { ...current, questions: 0, askedAt: null, waitedMs: waitedMs + waited };
}

/** Nobody was at the turn since the event before. A wait for people counts itself. */
function withoutAbsence(current: CurrentTurn, lastAt: number, at: number): CurrentTurn {
  if (current.askedAt !== null) return current;
  return { ...current, waitedMs: current.waitedMs + Math.max(0, at - lastAt) };
}

function said(turn: TurnState, current: CurrentTurn, event: AgentEvent): TurnState {
  const { stage } = current;
  if (stage.type !== "calling") return turn;
  const call = evolveCall(stage.call, event);
  return call === stage.call ? turn : staged(turn, current, { type: "calling", call });
}

function started(
  turn: TurnState,
  current: CurrentTurn,
  { callId, upstreamId, purpose }: CallStarted,
  at: number,
): TurnState {
  // What the other side waits for and what was said since; a lost call's content again, where nothing was.
  const { stage } = current;
  const answers = turn.upstream?.waiting ?? null;
  const isRepeated = stage.type === "lost" && !isSpeaking(current);
  const { unsent, unsentImages } = current;
  const images = unsentImages.length === 0 ? {} : { images: unsentImages };
  const outgoing: Outgoing = isRepeated
    ? stage.call.outgoing
    : { texts: unsent, ...images, answers };
  const call: Call = { callId, upstreamId, purpose, outgoing, messages: [], closed: [] };
  const steps = current.steps + 1;
  const calls = (turn.upstream?.calls ?? 0) + 1;
  return withUpstream(
    {
      ...turn,
      current: {
        ...current,
        steps,
        unsent: [],
        unsentImages: [],
        stage: { type: "calling", call },
      },
    },
    { usedAt: at, calls, waiting: null },
  );
}

function finished(
  turn: TurnState,
  current: CurrentTurn,
  { outcome, reason, usage, failure }: CallFinished,
  at: number,
): TurnState {
  const { stage } = current;
  if (stage.type !== "calling") return turn;
  if (outcome === "refused") {
    if (isNotMade(failure)) return takenBack(turn, current, stage.call, failure);
    return leftUnsure(turn, current, stage.call, failure);
  }
  const total = usage === null ? current.usage : usageSum(current.usage, usage);
  const isWaiting = outcome === "action-required";
  const next: Stage = isWaiting
    ? { type: "acting" }
    : { type: "ended", outcome, reason, ...(failure !== undefined && { failure }) };
  const calls: WaitingCall[] = openCallsOf(stage.call).map((open) => ({ ...open, result: null }));
  const isAnswer = outcome !== "failed" && outcome !== "cancelled";
  const isHeard = isAnswer || stage.call.messages.length > 0 || turn.upstream?.isHeard === true;
  return withUpstream(
    { ...turn, current: { ...current, usage: total, stage: next } },
    {
      usedAt: at,
      isHeard,
      isUncertain: outcome === "cancelled",
      unheard: isAnswer ? null : (stage.call.outgoing.answers ?? turn.upstream?.unheard ?? null),
      waiting: calls.length > 0 && isWaiting ? { messages: messagesOf(stage.call), calls } : null,
    },
  );
}

/** The call was not made: what it brought is still to be brought. */
function takenBack(
  turn: TurnState,
  current: CurrentTurn,
  { outgoing, purpose }: Call,
  failure: CallFinished["failure"],
): TurnState {
  const isBusy = failure?.code === "conflict";
  const stage: Stage = isBusy
    ? { type: "ready", purpose }
    : { type: "ended", outcome: "refused", reason: null, ...(failure && { failure }) };
  const conflicts = current.conflicts + (isBusy ? 1 : 0);
  const { texts: unsent, images: unsentImages = [] } = outgoing;
  const next = { ...current, unsent, unsentImages, conflicts, stage };
  return withUpstream(
    { ...turn, current: next },
    {
      calls: Math.max(0, (turn.upstream?.calls ?? 0) - 1),
      isUncertain: isBusy,
      waiting: outgoing.answers,
      // What is still to be brought need not be said beside it.
      unheard: outgoing.answers === null ? (turn.upstream?.unheard ?? null) : null,
    },
  );
}

/** The service failed, and did not say whether the agent has what the call brought. */
function leftUnsure(
  turn: TurnState,
  current: CurrentTurn,
  { outgoing }: Call,
  failure: CallFinished["failure"],
): TurnState {
  const how = { outcome: "refused", reason: null, ...(failure && { failure }) } as const;
  const unheard = outgoing.answers ?? turn.upstream?.unheard ?? null;
  return withUpstream(staged(turn, current, { type: "ended", ...how }), {
    isUncertain: true,
    unheard,
  });
}

function withResult(turn: TurnState, { toolCallId, result }: ToolFinished): TurnState {
  const waiting = turn.upstream?.waiting;
  if (waiting === undefined || waiting === null) return turn;
  const at = waiting.calls.findIndex((call) => call.toolCallId === toolCallId);
  const call = waiting.calls[at];
  if (call === undefined) return turn;
  const calls = waiting.calls.with(at, { ...call, result });
  return withUpstream(turn, { waiting: { ...waiting, calls } });
}

function usageSum(sum: CurrentTurn["usage"], usage: NonNullable<CurrentTurn["usage"]>) {
  return sum === null ? usage : addUsage(sum, usage);
}

function staged(turn: TurnState, current: CurrentTurn, stage: Stage): TurnState {
  return { ...turn, current: { ...current, stage } };
}

function withUpstream(turn: TurnState, change: Partial<Upstream>): TurnState {
  if (turn.upstream === null) return turn;
  return { ...turn, upstream: { ...turn.upstream, ...change } };
}
