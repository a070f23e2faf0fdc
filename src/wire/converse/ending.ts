import type { Failure } from "../../domain/errors.ts";
import type { Outcome, TurnEnd } from "../../domain/provider-event.ts";
import { closeMessage } from "./messages.ts";
import {
  diagnose,
  reportCounted,
  type ConverseState,
  type OpenMessage,
  type Out,
} from "./state.ts";

/** Decides what the end of the stream means. The last message decides, and only if the provider closed it. */
export function endTurn(state: ConverseState, emit: Out): void {
  const { message } = state;
  const complete = message !== null && message.closed;
  closeMessage(state, emit);
  const openCalls: string[] = [];
  for (const call of state.calls.values()) {
    if (call.answered) continue;
    if (call.runBy === "client") openCalls.push(call.id);
    else diagnose(state, "tool_result_missing", `Server tool call ${call.id} has no result`, emit);
  }
  const verdict = judge(state, complete ? message : null, openCalls);
  if (verdict.contradiction !== undefined) {
    diagnose(state, "stop_reason_contradicted", verdict.contradiction, emit);
  }
  reportCounted(state, emit);
  const { outcome, failure } = verdict;
  const reason = message?.reason ?? null;
  const waits = outcome === "action-required" || outcome === "other";
  const end: TurnEnd = {
    type: "end",
    outcome,
    reason,
    openCalls: waits ? openCalls : [],
    usage: state.usage,
  };
  const policy = reason === "hook_stopped" ? state.denial : null;
  emit({
    ...end,
    ...(failure !== undefined && { failure }),
    ...(policy !== null && { stoppedBy: policy }),
  });
}

interface Verdict {
  readonly outcome: Outcome;
  readonly failure?: Failure;
  readonly contradiction?: string;
}

function judge(
  state: ConverseState,
  last: OpenMessage | null,
  openCalls: readonly string[],
): Verdict {
  if (state.failure !== null) return { outcome: "failed", failure: state.failure };
  if (last === null) {
    const seen = state.messageCount === 0 ? "before any message" : "inside a message";
    return incomplete(`The stream ended ${seen}`);
  }
  if (last.reason === null) return incomplete("The last message ended without a reason");
  if (last.reason === "tool_result") {
    return incomplete("The stream ended on a tool result, before the agent's answer");
  }
  const outcome = state.outcomes.get(last.reason) ?? "other";
  if (outcome === "action-required" && openCalls.length === 0) {
    return incomplete("The stream stopped for tools, but no call waits for a result");
  }
  if (outcome === "completed" && openCalls.length > 0) {
    const contradiction = `The reason is "${last.reason}", but ${openCalls.length} call(s) wait for a result`;
    return { outcome: "action-required", contradiction };
  }
  if (outcome === "completed" && last.role === "user") {
    return incomplete("The stream ended on a tool result, before the agent's answer");
  }
  return outcome === "failed" ? modelFault(last.reason) : { outcome };
}

function incomplete(message: string): Verdict {
  return { outcome: "failed", failure: { code: "incomplete_turn", message, details: {} } };
}

function modelFault(reason: string): Verdict {
  const message = `The provider ended the turn with "${reason}"`;
  return { outcome: "failed", failure: { code: "stream_exception", message, details: { reason } } };
}
