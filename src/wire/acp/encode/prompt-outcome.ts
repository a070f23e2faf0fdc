import type { TurnFinished } from "../../../domain/events/turn-events.ts";
import { isObject } from "../../../data/json.ts";
import type { Usage } from "../../../domain/usage.ts";
import { createInternalError, type RpcError } from "../../jsonrpc/rpc-error.ts";
import type { RpcOutcome } from "../../jsonrpc/rpc-message.ts";
import { encodeAuthError, encodeFailureData } from "./encode-failure.ts";

type StopReason = "end_turn" | "max_tokens" | "max_turn_requests" | "refusal" | "cancelled";

/**
 * Encodes the end of a turn as the response to its prompt. ACP v1 has no stop reason for a failure, so a failed turn is
 * an error response.
 */
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

/** Marks the response to a prompt that waited in the queue: the client may have considered the prompt lost. */
export function markAsQueued(answer: RpcOutcome): RpcOutcome {
  if (!answer.ok || !isObject(answer.result)) return answer;
  return { ok: true, result: { ...answer.result, _meta: { harn: { queued: true } } } };
}

/** Encodes the response to a prompt that started no turn. */
export function encodeNoTurnOutcome(): RpcOutcome {
  return encodeStopReason("end_turn", null);
}

/**
 * Encodes the response to a cancelled prompt. The usage is omitted, because the tokens of an interrupted invocation are
 * unknown.
 */
export function encodeCancelledOutcome(): RpcOutcome {
  return encodeStopReason("cancelled", null);
}

/**
 * A failed turn is an internal error whatever the failure's code, because the request itself was valid. Only missing
 * credentials keep their own code, so the client can offer to authenticate.
 */
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

/**
 * Maps Spanline's limits and the providers' reasons to stop reasons. Any other limit stopped the agent loop and becomes
 * `max_turn_requests`.
 */
const LIMIT_STOP_REASONS: ReadonlyMap<string, StopReason> = new Map<string, StopReason>([
  ["max_tokens", "max_tokens"],
  ["max_output_tokens_exceeded", "max_tokens"],
  ["model_context_window_exceeded", "max_tokens"],
  ["content_filtered", "refusal"],
  ["guardrail_intervened", "refusal"],
]);
