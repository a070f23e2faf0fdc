import type { TurnFinished } from "../events/turn-events.ts";
import type { ErrorCode, Failure } from "../errors.ts";

/** The other side may have gone on after the connection broke: nobody knows what came of the call. */
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
 * Whether a call without a stream certainly did nothing: nothing was sent, or it was turned away before anybody could act
 * on it. A service that says it failed may have failed after its agent had begun.
 */
export function isInvocationRejected(failure: Failure | undefined): boolean {
  if (failure === undefined) return false;
  const { phase } = failure.details;
  return phase === "connect" || (REJECTION_CODES.has(failure.code) && phase !== "stream");
}

/** A turn that was turned away at the door: whoever asked may ask again, from where they were. */
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
