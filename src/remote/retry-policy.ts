import { computeBackoff, type Backoff, type RetryOptions } from "../async/retry.ts";
import { SpanlineError, type ErrorCode } from "../domain/errors.ts";

/** When a call that may be made twice is made again. */
export interface RetryPolicy {
  readonly maxAttempts: number;
  /** The waits where the service wishes none. */
  readonly backoff: Backoff;
  /** Gives numbers from 0 up to 1. */
  readonly random: () => number;
  readonly isRetryable: (error: unknown) => boolean;
  /** Whether there is room for a wait of so many milliseconds. */
  readonly hasTime: (milliseconds: number) => boolean;
}

/** Waits as long as the service wishes, else for a time that doubles. */
export function createRetryDelay(policy: RetryPolicy): RetryOptions["computeDelay"] {
  const { maxAttempts, backoff: waits, random, isRetryable: mayRetry, hasTime } = policy;
  return (error, attemptNumber) => {
    if (attemptNumber >= maxAttempts || !mayRetry(error)) return undefined;
    const wait = readRetryAfter(error) || computeBackoff(attemptNumber, random(), waits);
    return hasTime(wait) ? wait : undefined;
  };
}

/**
 * Whether a failure says nothing of the next attempt: the way there was disturbed, or the service was busy. Before an
 * answer a lost connection is as good as none: often it had been kept too long.
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

/** 529 is Anthropic's word for overloaded. */
const BUSY_STATUSES: ReadonlySet<number> = new Set([502, 503, 504, 529]);

/** How long the service wants to be left alone, in milliseconds; 0 when it did not say. */
export function readRetryAfter(error: unknown): number {
  const seconds = error instanceof SpanlineError ? error.details["retryAfter"] : undefined;
  return typeof seconds === "number" ? seconds * 1000 : 0;
}
