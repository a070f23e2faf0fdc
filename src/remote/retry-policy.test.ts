import { describe, expect, it } from "vitest";
import { SpanlineError, type ErrorCode } from "../domain/errors.ts";
import { isTransientFailure, createRetryDelay, type RetryPolicy } from "./retry-policy.ts";

const failure = (code: ErrorCode, details: SpanlineError["details"] = {}): SpanlineError =>
  new SpanlineError(code, "no", { details });

describe("a failure that passes", () => {
  it.each<[ErrorCode, SpanlineError["details"]]>([
    ["connect_failed", {}],
    ["connection_lost", {}],
    ["idle_timeout", {}],
    ["throttled", { status: 429 }],
    ["service_failed", { status: 502 }],
    ["service_failed", { status: 503 }],
    ["service_failed", { status: 504 }],
    ["service_failed", { status: 529 }],
  ])("is %s with %j", (code, details) => {
    expect(isTransientFailure(failure(code, details))).toBe(true);
    expect(isTransientFailure(failure(code, { ...details, mayRetry: false }))).toBe(false);
  });

  it.each<[ErrorCode, SpanlineError["details"]]>([
    ["service_failed", { status: 500 }],
    ["service_failed", {}],
    ["quota_exceeded", { status: 429 }],
    ["validation_failed", { status: 400 }],
    ["aborted", {}],
  ])("is not %s with %j", (code, details) => {
    expect(isTransientFailure(failure(code, details))).toBe(false);
  });

  it("is none that is not ours", () => {
    expect(isTransientFailure(new Error("socket hang up"))).toBe(false);
  });
});

describe("the wait for another attempt", () => {
  const policy: RetryPolicy = {
    maxAttempts: 3,
    backoff: { first: 100, longest: 1000 },
    random: () => 0,
    isRetryable: isTransientFailure,
    hasTime: (wait) => wait < 5000,
  };
  const waitAfter = createRetryDelay(policy);

  it("is what the service wishes, else one that doubles", () => {
    expect([1, 2].map((made) => waitAfter(failure("throttled"), made))).toEqual([50, 100]);
    expect(waitAfter(failure("throttled", { retryAfter: 0.01 }), 2)).toBe(10);
    expect(waitAfter(failure("throttled", { retryAfter: 0 }), 2)).toBe(100);
  });

  it("is none when attempts, time or hope are gone", () => {
    expect(waitAfter(failure("throttled"), 3)).toBeUndefined();
    expect(waitAfter(failure("throttled", { retryAfter: 5 }), 1)).toBeUndefined();
    expect(waitAfter(failure("not_found"), 1)).toBeUndefined();
  });
});
