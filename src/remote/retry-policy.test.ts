import { describe, expect, it } from "vitest";
import { SpanlineError, type ErrorCode } from "../domain/errors.ts";
import { isTransientFailure, createRetryDelay, type RetryPolicy } from "./retry-policy.ts";

const failure = (code: ErrorCode, details: SpanlineError["details"] = {}): SpanlineError =>
  new SpanlineError(code, "no", { details });

describe("Transient failures", () => {
  it.each<[ErrorCode, SpanlineError["details"]]>([
    ["connect_failed", {}],
    ["connection_lost", {}],
    ["idle_timeout", {}],
    ["throttled", { status: 429 }],
    ["service_failed", { status: 502 }],
    ["service_failed", { status: 503 }],
    ["service_failed", { status: 504 }],
    ["service_failed", { status: 529 }],
  ])("A failure is transient: %s with %j", (code, details) => {
    expect(isTransientFailure(failure(code, details))).toBe(true);
    expect(isTransientFailure(failure(code, { ...details, mayRetry: false }))).toBe(false);
  });

  it.each<[ErrorCode, SpanlineError["details"]]>([
    ["service_failed", { status: 500 }],
    ["service_failed", {}],
    ["quota_exceeded", { status: 429 }],
    ["validation_failed", { status: 400 }],
    ["aborted", {}],
  ])("A failure is not transient: %s with %j", (code, details) => {
    expect(isTransientFailure(failure(code, details))).toBe(false);
  });

  it("An error of another class is not transient", () => {
    expect(isTransientFailure(new Error("socket hang up"))).toBe(false);
  });
});

describe("Retry delay", () => {
  const policy: RetryPolicy = {
    maxAttempts: 3,
    backoff: { first: 100, longest: 1000 },
    random: () => 0,
    isRetryable: isTransientFailure,
    hasTime: (wait) => wait < 5000,
  };
  const waitAfter = createRetryDelay(policy);

  it("The delay is the retry-after time of the service, otherwise it doubles", () => {
    expect([1, 2].map((made) => waitAfter(failure("throttled"), made))).toEqual([50, 100]);
    expect(waitAfter(failure("throttled", { retryAfter: 0.01 }), 2)).toBe(10);
    expect(waitAfter(failure("throttled", { retryAfter: 0 }), 2)).toBe(100);
  });

  it("A request is not retried if attempts or time are used up or the failure is permanent", () => {
    expect(waitAfter(failure("throttled"), 3)).toBeUndefined();
    expect(waitAfter(failure("throttled", { retryAfter: 5 }), 1)).toBeUndefined();
    expect(waitAfter(failure("not_found"), 1)).toBeUndefined();
  });
});
