import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createFakeClock } from "../../../test/support/fake-clock.ts";
import { ApiError } from "../routing/api-error.ts";
import { createRateLimits } from "./rate-limits.ts";

function thrown(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return error;
  }
}

describe("The request rate limit", () => {
  it("A full burst is accepted at once, then requests are accepted as tokens refill", () => {
    const clock = createFakeClock();
    const rates = createRateLimits({ requestsPerMinute: 30, burst: 2 }, clock);
    expect(rates.countRequest("ada")).toEqual({
      "x-ratelimit-limit-requests": "2",
      "x-ratelimit-remaining-requests": "1",
      "x-ratelimit-reset-requests": "2s",
    });
    rates.countRequest("ada");
    const refusal = thrown(() => rates.countRequest("ada"));
    expect(refusal).toMatchObject({
      status: 429,
      code: "throttled",
      reason: "rate_limit_exceeded",
      message: "Too many requests: the limit is 30 per minute with bursts of 2",
      headers: {
        "retry-after": "2",
        "x-should-retry": "true",
        "x-ratelimit-limit-requests": "2",
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "4s",
      },
    });
    // Each principal has a separate limit.
    rates.countRequest("bob");
    clock.advance(1999);
    expect(thrown(() => rates.countRequest("ada"))).toBeInstanceOf(ApiError);
    clock.advance(1);
    rates.countRequest("ada");
  });

  it("A long pause refills no more than the burst", () => {
    const clock = createFakeClock();
    const rates = createRateLimits({ requestsPerMinute: 30, burst: 2 }, clock);
    rates.countRequest("ada");
    clock.advance(3_600_000);
    rates.countRequest("ada");
    rates.countRequest("ada");
    expect(thrown(() => rates.countRequest("ada"))).toMatchObject({
      status: 429,
      headers: { "retry-after": "2", "x-ratelimit-remaining-requests": "0" },
    });
  });

  it("A clock set back does not block requests", () => {
    const clock = createFakeClock();
    const rates = createRateLimits({ requestsPerMinute: 1 }, clock);
    rates.countRequest("ada");
    clock.jump(-3_600_000);
    clock.advance(60_000);
    expect(rates.countRequest("ada")["x-ratelimit-remaining-requests"]).toBe("0");
  });

  it("Requests are unlimited if no limit is configured", () => {
    const rates = createRateLimits({}, createFakeClock());
    for (let at = 0; at < 1000; at++) expect(rates.countRequest("ada")).toEqual({});
  });

  it("Accepted requests never exceed the burst plus the refill, and a client that waits for retry-after is accepted", () => {
    const clock = createFakeClock();
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 600 }),
        fc.integer({ min: 1, max: 20 }),
        fc.array(fc.integer({ min: 0, max: 5000 }), { maxLength: 60 }),
        (requestsPerMinute, burst, pauses) => {
          const rates = createRateLimits({ requestsPerMinute, burst }, clock);
          const began = clock.monotonic();
          let taken = 0;
          for (const pause of pauses) {
            clock.advance(pause);
            const refusal = thrown(() => rates.countRequest("ada"));
            if (refusal instanceof ApiError) {
              clock.advance(Number(refusal.headers["retry-after"]) * 1000);
              rates.countRequest("ada");
            }
            taken += 1;
            const earned = ((clock.monotonic() - began) * requestsPerMinute) / 60_000;
            expect(taken).toBeLessThanOrEqual(burst + earned + 1e-6);
          }
        },
      ),
    );
  });
});

describe("The limit of concurrent turns", () => {
  it("Turns up to the limit run at once, and each end frees one slot once", () => {
    const rates = createRateLimits({ turns: 2 }, createFakeClock());
    const end = rates.startTurn("ada");
    rates.startTurn("ada");
    expect(thrown(() => rates.startTurn("ada"))).toMatchObject({
      status: 429,
      headers: { "retry-after": "2", "x-should-retry": "true" },
    });
    rates.startTurn("bob");
    end();
    end();
    rates.startTurn("ada");
    expect(thrown(() => rates.startTurn("ada"))).toMatchObject({ status: 429 });
  });
});

it.each([{ requestsPerMinute: 0 }, { burst: Number.NaN }, { turns: -1 }])(
  "The limits %j are refused",
  (limits) => {
    expect(thrown(() => createRateLimits(limits, createFakeClock()))).toMatchObject({
      code: "invalid_option",
    });
  },
);
