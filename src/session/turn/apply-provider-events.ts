import type { TurnEnd } from "../../domain/provider/provider-event.ts";
import type { TimedInput, ProviderOutput } from "../session-input.ts";
import type { Decision } from "../decision.ts";
import { isConnectionCut } from "../../domain/provider/invocation-outcome.ts";
import { closeStream } from "./close-stream.ts";
import { listOpenToolCalls } from "./evolve-invocation.ts";
import { translateProviderEvent } from "./translate-provider-event.ts";
import type { Invocation } from "./turn-state.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/** Takes in what the stream of a call said. Events of a call that is over are nobody's any more. */
export function applyProviderEvents(
  decision: Decision,
  invocationId: string,
  outputs: readonly ProviderOutput[],
): void {
  for (const { event, problem } of outputs) {
    const invocation = findActiveInvocation(decision, invocationId);
    if (invocation === undefined) return;
    if (event.type === "end") endInvocation(decision, invocation, event);
    else {
      const { tools, turn } = decision.state;
      const options = turn.current?.options ?? null;
      for (const sessionEvent of translateProviderEvent(
        { invocation, tools, problem, options },
        event,
      ))
        decision.emit(sessionEvent);
    }
  }
}

/** The call under way, if there is one, went with the process that made it. */
export function loseInvocation(decision: Decision): void {
  const stage = decision.state.turn.current?.stage;
  if (stage?.type !== "invoking") return;
  closeStream(decision, stage.invocation, "The connection to the agent was lost");
  decision.emit({ type: "invocation.lost", invocationId: stage.invocation.invocationId });
}

function findActiveInvocation({ state }: Decision, invocationId: string): Invocation | undefined {
  const stage = state.turn.current?.stage;
  return stage?.type === "invoking" && stage.invocation.invocationId === invocationId
    ? stage.invocation
    : undefined;
}

function endInvocation(decision: Decision, invocation: Invocation, end: TurnEnd): void {
  const { outcome, reason, usage, failure } = end;
  const { invocationId } = invocation;
  if (failure !== undefined && isConnectionCut(failure)) {
    closeStream(decision, invocation, "The connection to the agent was lost");
    decision.emit({ type: "invocation.lost", invocationId, failure });
    return;
  }
  const openToolCalls = outcome === "action-required" ? listOpenToolCalls(invocation) : [];
  const pendingToolCalls = openToolCalls.filter((open) =>
    end.openToolCallIds.includes(open.toolCall.id),
  );
  const why = "The agent did not wait for this call";
  closeStream(
    decision,
    invocation,
    why,
    new Set(pendingToolCalls.map(({ toolCallId }) => toolCallId)),
  );
  decision.emit({
    type: "invocation.finished",
    invocationId,
    outcome,
    reason,
    usage,
    ...omitUndefined({ failure }),
  });
}

type InvocationFailure = Extract<TimedInput, { readonly type: "invocation-failed" }>;

/** A call without a stream: lost, when it may have been made and nobody said its end, else refused. */
export function applyInvocationFailure(
  decision: Decision,
  { invocationId: callId, failure, mayHaveBeenSent }: InvocationFailure,
): void {
  const invocation = findActiveInvocation(decision, callId);
  if (invocation === undefined) return;
  closeStream(decision, invocation, "The call of the agent failed");
  if (mayHaveBeenSent || invocation.messages.length > 0) {
    return decision.emit({ type: "invocation.lost", invocationId: callId, failure });
  }
  const resultFields = { outcome: "refused", reason: null, usage: null, failure } as const;
  decision.emit({ type: "invocation.finished", invocationId: callId, ...resultFields });
}
