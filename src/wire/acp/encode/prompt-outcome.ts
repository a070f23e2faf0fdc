import type { TurnFinished } from "../../../domain/events/turn-events.ts";
import { isObject } from "../../../data/json.ts";
import type { Usage } from "../../../domain/usage.ts";
import { createInternalError, type RpcError } from "../../jsonrpc/rpc-error.ts";
import type { RpcOutcome } from "../../jsonrpc/rpc-message.ts";
import { encodeAuthError, encodeFailureData } from "./encode-failure.ts";

type StopReason = "end_turn" | "max_tokens" | "max_turn_requests" | "refusal" | "cancelled";

/** What a turn's end answers to the prompt that began it. ACP v1 has no stop reason for an error: that is an error. */
export function encodePromptOutcome(turn: TurnFinished): RpcOutcome {
  switch (turn.outcome) {
    case "completed":
      return encodeStopReason("end_turn", turn.usage);
    case "cancelled":
      return encodeCancelledOutcome();
    case "limited":
      return encodeStopReason(
        LIMIT_STOP_REASONS.get(turn.reason ?? "") ?? "max_turn_requests",
        turn.usage,
      );
    case "failed":
      return { ok: false, error: encodeTurnError(turn) };
  }
}

/** Of a prompt that waited for another one's turn: the client may have taken it for lost. */
export function markAsQueued(answer: RpcOutcome): RpcOutcome {
  if (!answer.ok || !isObject(answer.result)) return answer;
  return { ok: true, result: { ...answer.result, _meta: { harn: { queued: true } } } };
}

/** Of a prompt that took no turn. */
export function encodeNoTurnOutcome(): RpcOutcome {
  return encodeStopReason("end_turn", null);
}

/** Without a count of tokens: what a call had used when it was cut is not known. */
export function encodeCancelledOutcome(): RpcOutcome {
  return encodeStopReason("cancelled", null);
}

/** Whatever the failure's code, it is the turn that failed: the request itself was good. Whom nobody knows has to be told. */
function encodeTurnError({ failure, reason }: TurnFinished): RpcError {
  if (failure !== undefined)
    return (
      encodeAuthError(failure) ?? createInternalError(failure.message, encodeFailureData(failure))
    );
  return createInternalError(`The turn failed${reason === null ? "" : `: ${reason}`}`, { reason });
}

function encodeStopReason(stopReason: StopReason, usage: Usage | null): RpcOutcome {
  const result = usage === null ? { stopReason } : { stopReason, usage: encodeUsage(usage) };
  return { ok: true, result };
}

function encodeUsage(usage: Usage): unknown {
  return {
    inputTokens: usage.inputTokens,
    outputTokens: usage.outputTokens,
    cachedReadTokens: usage.cacheReadTokens,
    cachedWriteTokens: usage.cacheWriteTokens,
    totalTokens: usage.totalTokens,
  };
}

/** Our own caps and the providers' words; a limit that is none of these stopped the loop. */
const LIMIT_STOP_REASONS: ReadonlyMap<string, StopReason> = new Map<string, StopReason>([
  ["max_tokens", "max_tokens"],
  ["max_output_tokens_exceeded", "max_tokens"],
  ["model_context_window_exceeded", "max_tokens"],
  ["content_filtered", "refusal"],
  ["guardrail_intervened", "refusal"],
]);
