import type { AgentEvent, ToolFinished } from "../../domain/agent-event.ts";
import { isUnheard } from "../../domain/call-fate.ts";
import type { Draft } from "../../domain/envelope.ts";
import { callFinished, callLost, callStarted } from "./call-steps.ts";
import { evolveCall } from "./evolve-call.ts";
import { withAnswer, withoutAbsence, withQuestion } from "./turn-clock.ts";
import {
  isSpeaking,
  staged,
  withUpstream,
  type CurrentTurn,
  type Stage,
  type TurnState,
  type Upstream,
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
        instructions: null,
        unsent: [],
        unsentImages: [],
        stage: { type: "ready", purpose: "prompt" },
      };
      return { ...turn, queue: turn.queue.filter((queued) => queued !== prompt), current };
    }
    case "turn.finished": {
      // A turn that was turned away unheard has told the agent nothing.
      const sent = isUnheard(event) ? null : (turn.current?.instructions ?? null);
      return { ...turn, current: null, sentInstructions: sent ?? turn.sentInstructions };
    }
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
        const isInstructions = event.origin === "instructions";
        const instructions = isInstructions ? said.join("\n\n") : current.instructions;
        return { ...turn, current: { ...current, unsent, unsentImages, instructions } };
      }
      const reprompts = current.reprompts + 1;
      const stage: Stage = { type: "ready", purpose: "reprompt" };
      return { ...turn, current: { ...current, unsent, reprompts, stage } };
    }
    case "call.started":
      return callStarted(turn, current, event, at);
    case "call.finished":
      return callFinished(turn, current, event, at);
    case "call.lost":
      return callLost(turn, current, event);
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

function said(turn: TurnState, current: CurrentTurn, event: AgentEvent): TurnState {
  const { stage } = current;
  if (stage.type !== "calling") return turn;
  const call = evolveCall(stage.call, event);
  return call === stage.call ? turn : staged(turn, current, { type: "calling", call });
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
