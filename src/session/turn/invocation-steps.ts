import { createChunkedList, listItems } from "../../data/chunked-list.ts";
import type {
  InvocationFinished,
  InvocationLost,
  InvocationStarted,
} from "../../domain/events/turn-events.ts";
import { addUsage } from "../../domain/usage.ts";
import { isInvocationRejected } from "../../domain/provider/invocation-outcome.ts";
import { listTurnMessages, listOpenToolCalls } from "./evolve-invocation.ts";
import {
  hasUnsentContent,
  withStage,
  withUpstream,
  type Invocation,
  type CurrentTurn,
  type OutgoingContent,
  type Stage,
  type TurnState,
  type PendingToolCall,
} from "./turn-state.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/** Starts an invocation with everything the provider has not received yet. */
export function applyInvocationStarted(
  turn: TurnState,
  current: CurrentTurn,
  { invocationId, upstreamId, purpose }: InvocationStarted,
  at: number,
): TurnState {
  // Contains the pending tool results and unsent texts; for a lost invocation without new content, its content again.
  const { stage } = current;
  const toolResults = turn.upstream?.pendingToolCalls ?? null;
  const isRepeated = stage.type === "invocation-lost" && !hasUnsentContent(current);
  const { unsentTexts, unsentImages } = current;
  const images = unsentImages.length === 0 ? {} : { images: unsentImages };
  const outgoing: OutgoingContent = isRepeated
    ? stage.invocation.outgoing
    : { texts: listItems(unsentTexts), ...images, toolResults };
  const invocation: Invocation = {
    invocationId,
    upstreamId,
    purpose,
    outgoing,
    messages: [],
    closedToolCallIds: [],
  };
  const steps = current.steps + 1;
  const invocationCount = (turn.upstream?.invocationCount ?? 0) + 1;
  return withUpstream(
    {
      ...turn,
      current: {
        ...current,
        steps,
        unsentTexts: [],
        unsentImages: [],
        stage: { type: "invoking", invocation },
      },
    },
    { usedAt: at, invocationCount, pendingToolCalls: null },
  );
}

export function applyInvocationFinished(
  turn: TurnState,
  current: CurrentTurn,
  { outcome, reason, usage, failure }: InvocationFinished,
  at: number,
): TurnState {
  const { stage } = current;
  if (stage.type !== "invoking") return turn;
  if (outcome === "refused") {
    if (isInvocationRejected(failure))
      return undoInvocation(turn, current, stage.invocation, failure);
    return markUpstreamUncertain(turn, current, stage.invocation, failure);
  }
  const total = usage === null ? current.usage : sumUsage(current.usage, usage);
  const isWaiting = outcome === "action-required";
  const next: Stage = isWaiting
    ? { type: "running-tools" }
    : { type: "ended", outcome, reason, ...omitUndefined({ failure }) };
  const toolCalls: PendingToolCall[] = listOpenToolCalls(stage.invocation).map((open) => ({
    ...open,
    result: null,
  }));
  const isAnswer = outcome !== "failed" && outcome !== "cancelled";
  const hasResponded =
    isAnswer || stage.invocation.messages.length > 0 || turn.upstream?.hasResponded === true;
  return withUpstream(
    { ...turn, current: { ...current, usage: total, stage: next } },
    {
      usedAt: at,
      hasResponded,
      isUncertain: outcome === "cancelled",
      unconfirmedResults: isAnswer
        ? null
        : (stage.invocation.outgoing.toolResults ?? turn.upstream?.unconfirmedResults ?? null),
      pendingToolCalls:
        toolCalls.length > 0 && isWaiting
          ? { messages: listTurnMessages(stage.invocation), toolCalls }
          : null,
    },
  );
}

/** The result of the invocation is unknown, and the provider may still be working. */
export function applyInvocationLost(
  turn: TurnState,
  current: CurrentTurn,
  { failure }: InvocationLost,
): TurnState {
  if (current.stage.type !== "invoking") return turn;
  const { invocation } = current.stage;
  const stage: Stage = {
    type: "invocation-lost",
    invocation,
    ...omitUndefined({ failure }),
  };
  const isHeard = invocation.messages.length > 0 || turn.upstream?.hasResponded === true;
  const unconfirmedResults =
    invocation.outgoing.toolResults ?? turn.upstream?.unconfirmedResults ?? null;
  return withUpstream(withStage(turn, current, stage), {
    isUncertain: true,
    hasResponded: isHeard,
    unconfirmedResults,
  });
}

/** The invocation had no effect, so its content is unsent again. */
function undoInvocation(
  turn: TurnState,
  current: CurrentTurn,
  { outgoing, purpose }: Invocation,
  failure: InvocationFinished["failure"],
): TurnState {
  const isBusy = failure?.code === "conflict";
  const stage: Stage = isBusy
    ? { type: "ready", purpose }
    : { type: "ended", outcome: "refused", reason: null, ...(failure && { failure }) };
  const conflicts = current.conflicts + (isBusy ? 1 : 0);
  const { texts: unsent, images: unsentImages = [] } = outgoing;
  const next = {
    ...current,
    unsentTexts: createChunkedList(unsent),
    unsentImages,
    conflicts,
    stage,
  };
  return withUpstream(
    { ...turn, current: next },
    {
      invocationCount: Math.max(0, (turn.upstream?.invocationCount ?? 0) - 1),
      isUncertain: isBusy,
      pendingToolCalls: outgoing.toolResults,
      // Results sent with the next invocation need no separate recovery message.
      unconfirmedResults:
        outgoing.toolResults === null ? (turn.upstream?.unconfirmedResults ?? null) : null,
    },
  );
}

/** The service failed without stating whether the agent received the content. */
function markUpstreamUncertain(
  turn: TurnState,
  current: CurrentTurn,
  { outgoing }: Invocation,
  failure: InvocationFinished["failure"],
): TurnState {
  const endFields = { outcome: "refused", reason: null, ...(failure && { failure }) } as const;
  const unheard = outgoing.toolResults ?? turn.upstream?.unconfirmedResults ?? null;
  return withUpstream(withStage(turn, current, { type: "ended", ...endFields }), {
    isUncertain: true,
    unconfirmedResults: unheard,
  });
}

function sumUsage(sum: CurrentTurn["usage"], usage: NonNullable<CurrentTurn["usage"]>) {
  return sum === null ? usage : addUsage(sum, usage);
}
