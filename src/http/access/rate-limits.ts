import { SpanlineError } from "../../domain/errors.ts";
import type { SteadyClock } from "../../platform/clock.ts";
import { ApiError } from "../routing/api-error.ts";
import type { ServedResponse } from "../server/http-types.ts";

/** Limits per principal. An absent limit is unlimited. */
export interface RateLimitOptions {
  readonly requestsPerMinute?: number;
  /** Requests accepted at once after a pause. Default: `requestsPerMinute`. */
  readonly burst?: number;
  /** Concurrent turns. */
  readonly turns?: number;
}

export interface RateLimits {
  /** Counts one request and returns the rate limit headers of its response. Throws 429 beyond the limit. */
  countRequest(principal: string): ServedResponse["headers"];
  /** Counts a starting turn and returns a function which ends it. Throws 429 if too many turns are running. */
  startTurn(principal: string): () => void;
}

/** Seconds. A turn may last seconds or minutes, so the time until a slot is free is unknown. */
const TURN_RETRY_SECONDS = 2;

/**
 * Rate limits by principal: a token bucket for requests and a counter for turns. State grows with the number of keys
 * only. A refused request has had no effect.
 */
export function createRateLimits(options: RateLimitOptions, clock: SteadyClock): RateLimits {
  const { requestsPerMinute, turns: maxTurns } = options;
  checkLimits(options);
  const burst = options.burst ?? requestsPerMinute ?? 0;
  const buckets = new Map<string, Bucket>();
  const turns = new Map<string, number>();
  return {
    countRequest(principal) {
      if (requestsPerMinute === undefined) return {};
      const perMs = requestsPerMinute / 60_000;
      const bucket = refillBucket(buckets.get(principal), { burst, perMs, now: clock.monotonic() });
      const isOver = bucket.tokens < 1;
      const remainingBucket = isOver ? bucket : { ...bucket, tokens: bucket.tokens - 1 };
      buckets.set(principal, remainingBucket);
      const headers = {
        "x-ratelimit-limit-requests": String(burst),
        "x-ratelimit-remaining-requests": String(Math.floor(remainingBucket.tokens)),
        "x-ratelimit-reset-requests": formatDuration((burst - remainingBucket.tokens) / perMs),
      };
      if (!isOver) return headers;
      const waitMs = (1 - bucket.tokens) / perMs;
      const message = `Too many requests: the limit is ${requestsPerMinute} per minute with bursts of ${burst}`;
      throw createThrottledError(message, Math.ceil(waitMs / 1000), headers);
    },
    startTurn(principal) {
      const running = turns.get(principal) ?? 0;
      if (maxTurns !== undefined && running >= maxTurns) {
        throw createThrottledError(
          `${running} turns are running, which is the limit`,
          TURN_RETRY_SECONDS,
        );
      }
      turns.set(principal, running + 1);
      let isOver = false;
      return () => {
        if (isOver) return;
        isOver = true;
        turns.set(principal, (turns.get(principal) ?? 1) - 1);
      };
    },
  };
}

interface Bucket {
  readonly tokens: number;
  readonly at: number;
}

interface Refill {
  readonly burst: number;
  readonly perMs: number;
  readonly now: number;
}

function refillBucket(bucket: Bucket | undefined, { burst, perMs, now }: Refill): Bucket {
  if (bucket === undefined) return { tokens: burst, at: now };
  return { tokens: Math.min(burst, bucket.tokens + (now - bucket.at) * perMs), at: now };
}

/** OpenAI's notation: `1s`, `6m0s`, `20ms`. */
function formatDuration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.ceil(milliseconds)}ms`;
  const seconds = Math.ceil(milliseconds / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}

function createThrottledError(
  message: string,
  seconds: number,
  headers: ServedResponse["headers"] = {},
): ApiError {
  return new ApiError(429, "throttled", message, {
    reason: "rate_limit_exceeded",
    hint: `Try again in ${seconds} s; nothing was run`,
    headers: { ...headers, "retry-after": String(seconds), "x-should-retry": "true" },
  });
}

function checkLimits(options: RateLimitOptions): void {
  for (const [path, value] of Object.entries(options)) {
    if (value === undefined || (Number.isFinite(value) && value >= 1)) continue;
    const message = `${String(value)} is not a valid ${path}: expected a number >= 1`;
    throw new SpanlineError("invalid_option", message, { details: { path } });
  }
}
