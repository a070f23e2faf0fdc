import type { TurnFinished } from "../events/turn-events.ts";
import type { ErrorCode, Failure } from "../errors.ts";

/**
 * Whether the connection broke after the request was sent. The provider may have continued, so the result of the
 * invocation is unknown.
 */
export function isConnectionCut({ code, details }: Failure): boolean {
  return CUT_CODES.has(code) && details["phase"] !== "connect";
}

const CUT_CODES: ReadonlySet<ErrorCode> = new Set([
  "connection_lost",
  "truncated_stream",
  "incomplete_turn",
  "first_event_timeout",
  "idle_timeout",
  "deadline_exceeded",
  "frame_invalid",
  "frame_checksum",
  "frame_too_large",
  "line_too_large",
  "event_too_large",
  "turn_too_large",
] as const);

/**
 * Whether an invocation without a stream certainly had no effect: nothing was sent, or the provider rejected the
 * request before acting. `service_failed` does not qualify: the service may fail after its agent has started.
 */
export function isInvocationRejected(failure: Failure | undefined): boolean {
  if (failure === undefined) return false;
  const { phase } = failure.details;
  return phase === "connect" || (REJECTION_CODES.has(failure.code) && phase !== "stream");
}

/** Whether a turn was rejected before it had any effect. The sender may submit the prompt again. */
export function isTurnRejected({ outcome, failure, steps }: TurnFinished): boolean {
  return outcome === "failed" && steps <= 1 && isInvocationRejected(failure);
}

const REJECTION_CODES: ReadonlySet<ErrorCode> = new Set([
  "connect_failed",
  "no_credentials",
  "invalid_message",
  "invalid_tool",
  "invalid_option",
  "resume_mismatch",
  "validation_failed",
  "unauthorized",
  "access_denied",
  "not_found",
  "conflict",
  "throttled",
  "quota_exceeded",
] as const);
