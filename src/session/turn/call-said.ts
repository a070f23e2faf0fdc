import type { TurnEnd } from "../../domain/provider-event.ts";
import type { Input, Said } from "../input.ts";
import type { Work } from "../work.ts";
import { isCut } from "../../domain/call-fate.ts";
import { closeStream } from "./close-stream.ts";
import { openCallsOf } from "./evolve-call.ts";
import { translate } from "./translate.ts";
import type { Call } from "./turn-state.ts";

/** Takes in what the stream of a call said. Events of a call that is over are nobody's any more. */
export function takeSaid(work: Work, callId: string, said: readonly Said[]): void {
  for (const { event, problem } of said) {
    const call = callUnderWay(work, callId);
    if (call === undefined) return;
    if (event.type === "end") endCall(work, call, event);
    else {
      const { tools, turn } = work.state;
      const options = turn.current?.options ?? null;
      for (const made of translate({ call, tools, problem, options }, event)) work.emit(made);
    }
  }
}

/** The call under way, if there is one, went with the process that made it. */
export function loseCall(work: Work): void {
  const stage = work.state.turn.current?.stage;
  if (stage?.type !== "calling") return;
  closeStream(work, stage.call, "The connection to the agent was lost");
  work.emit({ type: "call.lost", callId: stage.call.callId });
}

function callUnderWay({ state }: Work, callId: string): Call | undefined {
  const stage = state.turn.current?.stage;
  return stage?.type === "calling" && stage.call.callId === callId ? stage.call : undefined;
}

function endCall(work: Work, call: Call, end: TurnEnd): void {
  const { outcome, reason, usage, failure } = end;
  const { callId } = call;
  if (failure !== undefined && isCut(failure)) {
    closeStream(work, call, "The connection to the agent was lost");
    work.emit({ type: "call.lost", callId, failure });
    return;
  }
  const wanted = outcome === "action-required" ? openCallsOf(call) : [];
  const kept = wanted.filter((open) => end.openCalls.includes(open.call.id));
  const why = "The agent did not wait for this call";
  closeStream(work, call, why, new Set(kept.map(({ toolCallId }) => toolCallId)));
  work.emit({
    type: "call.finished",
    callId,
    outcome,
    reason,
    usage,
    ...(failure !== undefined && { failure }),
  });
}

type CallFailed = Extract<Input, { readonly type: "call-failed" }>;

/** A call without a stream: lost, when it may have been made and nobody said its end, else refused. */
export function takeCallFailure(work: Work, { callId, failure, isMade }: CallFailed): void {
  const call = callUnderWay(work, callId);
  if (call === undefined) return;
  closeStream(work, call, "The call of the agent failed");
  if (isMade || call.messages.length > 0) {
    return work.emit({ type: "call.lost", callId, failure });
  }
  const how = { outcome: "refused", reason: null, usage: null, failure } as const;
  work.emit({ type: "call.finished", callId, ...how });
}
