import { SpanlineError, type ErrorCode } from "../domain/errors.ts";

/** Whether a failure says nothing of the next attempt: the way there was disturbed, or the service was busy. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof SpanlineError)) return false;
  return PASSING.has(error.code) || error.details["type"] === "RetryableConflictException";
}

const PASSING: ReadonlySet<ErrorCode> = new Set([
  "connect_failed",
  "connection_lost",
  "idle_timeout",
  "throttled",
  "service_failed",
]);

/** How long the service wants to be left alone, in milliseconds; 0 when it did not say. */
export function wishedWait(error: unknown): number {
  const seconds = error instanceof SpanlineError ? error.details["retryAfter"] : undefined;
  return typeof seconds === "number" ? seconds * 1000 : 0;
}

export function isNotFound(error: unknown): boolean {
  return error instanceof SpanlineError && error.code === "not_found";
}

export function isConflict(error: unknown): boolean {
  return error instanceof SpanlineError && error.code === "conflict";
}
