import type { CallFinished, CallLost, CallStarted } from "../../domain/agent-event.ts";
import { addUsage } from "../../domain/usage.ts";
import { isNotMade } from "../../domain/call-fate.ts";
import { messagesOf, openCallsOf } from "./evolve-call.ts";
import {
  isSpeaking,
  staged,
  withUpstream,
  type Call,
  type CurrentTurn,
  type Outgoing,
  type Stage,
  type TurnState,
  type WaitingCall,
} from "./turn-state.ts";

/** A step of the turn begins: the call takes along what the other side has not heard. */
export function callStarted(
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

export function callFinished(
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

/** Nobody knows what came of it: the other side may be working still. */
export function callLost(turn: TurnState, current: CurrentTurn, { failure }: CallLost): TurnState {
  if (current.stage.type !== "calling") return turn;
  const { call } = current.stage;
  const stage: Stage = { type: "lost", call, ...(failure !== undefined && { failure }) };
  const isHeard = call.messages.length > 0 || turn.upstream?.isHeard === true;
  const unheard = call.outgoing.answers ?? turn.upstream?.unheard ?? null;
  return withUpstream(staged(turn, current, stage), { isUncertain: true, isHeard, unheard });
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

function usageSum(sum: CurrentTurn["usage"], usage: NonNullable<CurrentTurn["usage"]>) {
  return sum === null ? usage : addUsage(sum, usage);
}
