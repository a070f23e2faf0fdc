import type { Failure } from "../../domain/errors.ts";
import type { Outcome, TurnEnd } from "../../domain/provider/provider-event.ts";
import { closeMessage } from "./message-boundaries.ts";
import {
  diagnose,
  reportRepeatedDiagnostics,
  type ConverseState,
  type OpenMessage,
  type EmitEvent,
} from "./state.ts";

/** Decides what the end of the stream means. The last message decides, and only if the provider closed it. */
export function endTurn(state: ConverseState, emit: EmitEvent): void {
  const { message } = state;
  const isComplete = message !== null && message.isClosed;
  closeMessage(state, emit);
  const openToolCallIds: string[] = [];
  for (const call of state.toolCalls.values()) {
    if (call.isAnswered) continue;
    if (call.runBy === "client") openToolCallIds.push(call.id);
    else diagnose(state, "tool_result_missing", `Server tool call ${call.id} has no result`, emit);
  }
  const verdict = resolveVerdict(state, isComplete ? message : null, openToolCallIds);
  if (verdict.contradiction !== undefined) {
    diagnose(state, "stop_reason_contradicted", verdict.contradiction, emit);
  }
  reportRepeatedDiagnostics(state, emit);
  const { outcome, failure } = verdict;
  const reason = message?.reason ?? null;
  const isWaiting = outcome === "action-required" || outcome === "other";
  const turnEnd: TurnEnd = {
    type: "end",
    outcome,
    reason,
    openToolCallIds: isWaiting ? openToolCallIds : [],
    usage: state.usage,
  };
  const policy = reason === "hook_stopped" ? state.denial : null;
  emit({
    ...turnEnd,
    ...(failure !== undefined && { failure }),
    ...(policy !== null && { stoppedBy: policy }),
  });
}

interface Verdict {
  readonly outcome: Outcome;
  readonly failure?: Failure;
  readonly contradiction?: string;
}

function resolveVerdict(
  state: ConverseState,
  lastMessage: OpenMessage | null,
  openToolCallIds: readonly string[],
): Verdict {
  if (state.failure !== null) return { outcome: "failed", failure: state.failure };
  if (lastMessage === null) {
    const position = state.messageCount === 0 ? "before any message" : "inside a message";
    return createIncompleteVerdict(`The stream ended ${position}`);
  }
  if (lastMessage.reason === null)
    return createIncompleteVerdict("The last message ended without a reason");
  if (lastMessage.reason === "tool_result") {
    return createIncompleteVerdict("The stream ended on a tool result, before the agent's answer");
  }
  const outcome = state.outcomes.get(lastMessage.reason) ?? "other";
  if (outcome === "action-required" && openToolCallIds.length === 0) {
    return createIncompleteVerdict("The stream stopped for tools, but no call waits for a result");
  }
  if (outcome === "completed" && openToolCallIds.length > 0) {
    const contradiction = `The reason is "${lastMessage.reason}", but ${openToolCallIds.length} call(s) wait for a result`;
    return { outcome: "action-required", contradiction };
  }
  if (outcome === "completed" && lastMessage.role === "user") {
    return createIncompleteVerdict("The stream ended on a tool result, before the agent's answer");
  }
  return outcome === "failed" ? createModelFaultVerdict(lastMessage.reason) : { outcome };
}

function createIncompleteVerdict(message: string): Verdict {
  return { outcome: "failed", failure: { code: "incomplete_turn", message, details: {} } };
}

function createModelFaultVerdict(reason: string): Verdict {
  const message = `The provider ended the turn with "${reason}"`;
  return { outcome: "failed", failure: { code: "stream_exception", message, details: { reason } } };
}
