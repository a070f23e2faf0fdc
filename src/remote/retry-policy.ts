import { computeBackoff, type Backoff, type RetryOptions } from "../async/retry.ts";
import { SpanlineError, type ErrorCode } from "../domain/errors.ts";

/** When an idempotent request is retried. */
export interface RetryPolicy {
  readonly maxAttempts: number;
  /** The delays if the service does not request a delay. */
  readonly backoff: Backoff;
  /** Returns a number from 0 up to, but not including, 1. */
  readonly random: () => number;
  readonly isRetryable: (error: unknown) => boolean;
  /** True if there is time for a delay of the given milliseconds. */
  readonly hasTime: (milliseconds: number) => boolean;
}

/** Creates a delay function: the `Retry-After` time of the service, otherwise exponential backoff. */
export function createRetryDelay(policy: RetryPolicy): RetryOptions["computeDelay"] {
  const { maxAttempts, backoff: waits, random, isRetryable: mayRetry, hasTime } = policy;
  return (error, attemptNumber) => {
    if (attemptNumber >= maxAttempts || !mayRetry(error)) return undefined;
    const wait = readRetryAfter(error) || computeBackoff(attemptNumber, random(), waits);
    return hasTime(wait) ? wait : undefined;
  };
}

/**
 * True if a failure is temporary: the network failed or the service was busy. A connection lost before the response
 * counts as temporary, because it is often an expired keep-alive connection.
 */
export function isTransientFailure(error: unknown): boolean {
  if (!(error instanceof SpanlineError) || error.details["mayRetry"] === false) return false;
  if (TRANSIENT_CODES.has(error.code)) return true;
  const { status } = error.details;
  return error.code === "service_failed" && typeof status === "number" && BUSY_STATUSES.has(status);
}

const TRANSIENT_CODES: ReadonlySet<ErrorCode> = new Set([
  "connect_failed",
  "connection_lost",
  "idle_timeout",
  "throttled",
]);

/** 529 is the status of Anthropic for an overloaded service. */
const BUSY_STATUSES: ReadonlySet<number> = new Set([502, 503, 504, 529]);

/** The `Retry-After` time of the service, in milliseconds. 0 if absent. */
export function readRetryAfter(error: unknown): number {
  const seconds = error instanceof SpanlineError ? error.details["retryAfter"] : undefined;
  return typeof seconds === "number" ? seconds * 1000 : 0;
}
