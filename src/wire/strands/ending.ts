import type { Failure } from "../../domain/errors.ts";
import type { TurnEnd } from "../../domain/provider-event.ts";
import { endTurn } from "../converse/ending.ts";
import type { ConverseState } from "../converse/state.ts";
import { releaseAsEvents } from "./data.ts";
import { closeDataMessage } from "./merged.ts";
import { tellMessage } from "./heard.ts";
import { foldError } from "./errors.ts";
import { loopOutcome } from "./stop-reasons.ts";
import type { Done, HeardMessage, Out, StrandsState } from "./state.ts";

/** Says what the end of the stream means. */
export function endStream(state: StrandsState, emit: Out): void {
  releaseAsEvents(state, emit);
  if (state.suspect !== null) foldError(state, state.suspect, emit);
  const plainText = isPlainText(state);
  // After a failure the text may be cut, and must not look as if it had ended.
  if (state.converse.failure === null) closeDataMessage(state, emit);
  if (state.forceStop !== null && state.done === null) {
    foldError(state, { error: state.forceStop, error_type: "force_stop" }, emit);
  }
  if (state.hole !== null) {
    const failure = { code: "malformed_event", message: state.hole, details: {} } as const;
    tellMessage(state, { type: "failure", failure }, emit);
  }
  if (state.skipped > 0) {
    const message = `${state.skipped} line(s) repeated what had come before and were not read`;
    emit({
      type: "diagnostic",
      diagnostic: { code: "noise_skipped", message, count: state.skipped },
    });
  }
  if (plainText) state.done ??= { reason: null };
  endTurn(state.converse, (event) => {
    emit(event.type === "end" ? withKnownError(state, judge(state, event)) : event);
  });
}

/** Text alone has no end on the wire but the end of the stream. */
function isPlainText(state: StrandsState): boolean {
  const { heard } = state;
  return heard?.carrier === "data" && heard.open && !awaitsCopy(state, heard);
}

/** Whether a message counts as whole only with its full copy, because the messages before it had theirs. */
function awaitsCopy(state: StrandsState, { carrier, merged }: HeardMessage): boolean {
  if (state.loopSeen || carrier !== "data") return state.loopSeen;
  return merged ? state.confirmsMessages : state.confirmsStrings;
}

/** The loop knows better than its last message whether the turn is whole. */
function judge(state: StrandsState, end: TurnEnd): TurnEnd {
  const { done, heard, converse } = state;
  const { failure, ...rest } = end;
  if (failure !== undefined && failure.code !== "incomplete_turn") return end;
  if (done !== null) return judgeDone(done, rest, openCalls(converse));
  if (heard === null || heard.number !== converse.message?.number) return end;
  if (heard.confirmed) return heard.reason === null ? { ...rest, outcome: "completed" } : end;
  if (!awaitsCopy(state, heard) || failure !== undefined) return end;
  const message = "The stream ended before the full copy that confirms the last message";
  return { ...rest, outcome: "failed", failure: { code: "incomplete_turn", message, details: {} } };
}

function judgeDone(done: Done, end: TurnEnd, waiting: readonly string[]): TurnEnd {
  const reason = done.reason ?? end.reason;
  const outcome = done.outcome ?? loopOutcome(reason, waiting.length);
  const waits = outcome === "action-required" || outcome === "other";
  const judged = { ...end, outcome, reason, openCalls: waits ? waiting : [] };
  if (outcome !== "failed") return judged;
  return { ...judged, failure: blame(done.outcome === undefined ? reason : null) };
}

/** As Converse blames the model: by the reason that it gave. */
function blame(reason: string | null): Failure {
  const how = reason === null ? "as failed" : `with "${reason}"`;
  return {
    code: "stream_exception",
    message: `The provider ended the turn ${how}`,
    details: reason === null ? {} : { reason },
  };
}

function openCalls({ calls }: ConverseState): string[] {
  const ids: string[] = [];
  for (const { id, runBy, answered } of calls.values()) {
    if (runBy === "client" && !answered) ids.push(id);
  }
  return ids;
}

/** An error that was printed explains a turn that stopped short; a turn that went on outlived it. */
function withKnownError({ knownError }: StrandsState, end: TurnEnd): TurnEnd {
  if (knownError === null || end.failure?.code !== "incomplete_turn") return end;
  const details = { type: "printed" };
  return { ...end, failure: { code: "stream_exception", message: knownError, details } };
}
