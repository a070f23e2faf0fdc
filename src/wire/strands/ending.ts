import type { Failure } from "../../domain/errors.ts";
import type { TurnEnd } from "../../domain/provider/provider-event.ts";
import { endTurn } from "../converse/turn-boundaries.ts";
import type { ConverseState } from "../converse/state.ts";
import { flushAsEvents } from "./data.ts";
import { closeDataMessage } from "./merged-event.ts";
import { stepConverseMessage } from "./message-tracker.ts";
import { foldError } from "./stream-errors.ts";
import { resolveLoopOutcome } from "./loop-stop-reasons.ts";
import type { LoopEnd, TrackedMessage, EmitEvent, StrandsState } from "./state.ts";

/** Determines the outcome at the end of the stream. */
export function endStream(state: StrandsState, emit: EmitEvent): void {
  flushAsEvents(state, emit);
  if (state.suspectedError !== null) foldError(state, state.suspectedError, emit);
  const isPlain = isPlainTextMessage(state);
  // After a failure the text may be truncated, so the message stays open and is not reported as complete.
  if (state.converse.failure === null) closeDataMessage(state, emit);
  if (state.forceStop !== null && state.loopEnd === null) {
    foldError(state, { error: state.forceStop, error_type: "force_stop" }, emit);
  }
  if (state.missingContent !== null) {
    const failure = {
      code: "malformed_event",
      message: state.missingContent,
      details: {},
    } as const;
    stepConverseMessage(state, { type: "failure", failure }, emit);
  }
  if (state.skippedLines > 0) {
    const message = `${state.skippedLines} line(s) repeated earlier content and were skipped`;
    emit({
      type: "diagnostic",
      diagnostic: { code: "noise_skipped", message, count: state.skippedLines },
    });
  }
  if (isPlain) state.loopEnd ??= { reason: null };
  endTurn(state.converse, (event) => {
    emit(event.type === "end" ? applyKnownError(state, resolveTurnEnd(state, event)) : event);
  });
}

/** A message of plain text has no end event; the end of the stream completes the message. */
function isPlainTextMessage(state: StrandsState): boolean {
  const { trackedMessage } = state;
  return (
    trackedMessage?.carrier === "data" &&
    trackedMessage.isOpen &&
    !isAwaitingCopy(state, trackedMessage)
  );
}

/** Returns whether a message needs its full copy to be complete, because earlier messages had full copies. */
function isAwaitingCopy(
  state: StrandsState,
  { carrier, hasMergedEvents }: TrackedMessage,
): boolean {
  if (state.hasLoopEvents || carrier !== "data") return state.hasLoopEvents;
  return hasMergedEvents ? state.hasConfirmedMessages : state.hasConfirmedStrings;
}

/** The agent loop decides whether the turn is complete; its last message alone is not sufficient. */
function resolveTurnEnd(state: StrandsState, end: TurnEnd): TurnEnd {
  const { loopEnd, trackedMessage, converse } = state;
  const { failure, ...endWithoutFailure } = end;
  if (failure !== undefined && failure.code !== "incomplete_turn") return end;
  if (loopEnd !== null)
    return resolveLoopEnd(loopEnd, endWithoutFailure, listOpenToolCallIds(converse));
  if (trackedMessage === null || trackedMessage.number !== converse.message?.number) return end;
  if (trackedMessage.isConfirmed)
    return trackedMessage.reason === null ? { ...endWithoutFailure, outcome: "completed" } : end;
  if (!isAwaitingCopy(state, trackedMessage) || failure !== undefined) return end;
  const message = "The stream ended before the full copy that confirms the last message";
  return {
    ...endWithoutFailure,
    outcome: "failed",
    failure: { code: "incomplete_turn", message, details: {} },
  };
}

function resolveLoopEnd(
  loopEnd: LoopEnd,
  end: TurnEnd,
  openToolCallIds: readonly string[],
): TurnEnd {
  const reason = loopEnd.reason ?? end.reason;
  const outcome = loopEnd.outcome ?? resolveLoopOutcome(reason, openToolCallIds.length);
  const isWaiting = outcome === "action-required" || outcome === "other";
  const turnEnd = { ...end, outcome, reason, openToolCallIds: isWaiting ? openToolCallIds : [] };
  if (outcome !== "failed") return turnEnd;
  return {
    ...turnEnd,
    failure: createProviderFailure(loopEnd.outcome === undefined ? reason : null),
  };
}

/** Creates the same failure as Converse, with the reason given by the model. */
function createProviderFailure(reason: string | null): Failure {
  const how = reason === null ? "as failed" : `with "${reason}"`;
  return {
    code: "stream_exception",
    message: `The provider ended the turn ${how}`,
    details: reason === null ? {} : { reason },
  };
}

function listOpenToolCallIds({ toolCalls }: ConverseState): string[] {
  const ids: string[] = [];
  for (const { id, runBy, isAnswered } of toolCalls.values()) {
    if (runBy === "client" && !isAnswered) ids.push(id);
  }
  return ids;
}

/**
 * A printed error explains a turn without an end. A turn with an end continued after the error, which is then ignored.
 */
function applyKnownError({ knownError }: StrandsState, end: TurnEnd): TurnEnd {
  if (knownError === null || end.failure?.code !== "incomplete_turn") return end;
  const details = { type: "printed" };
  return { ...end, failure: { code: "stream_exception", message: knownError, details } };
}
