import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fakeClock } from "../../test/support/fake-clock.ts";
import { ApiError } from "./api-error.ts";
import { rateLimits } from "./rate-limits.ts";

function thrown(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return error;
  }
}

describe("requests", () => {
  it("are let in as many at once as may be, then as they are earned", () => {
    const clock = fakeClock();
    const rates = rateLimits({ requestsPerMinute: 30, burst: 2 }, clock);
    expect(rates.request("ada")).toEqual({
      "x-ratelimit-limit-requests": "2",
      "x-ratelimit-remaining-requests": "1",
      "x-ratelimit-reset-requests": "2s",
    });
    rates.request("ada");
    const refusal = thrown(() => rates.request("ada"));
    expect(refusal).toMatchObject({
      status: 429,
      code: "throttled",
      reason: "rate_limit_exceeded",
      message: "Too many requests: 2 may come at once, and 30 in a minute after that",
      headers: {
        "retry-after": "2",
        "x-should-retry": "true",
        "x-ratelimit-limit-requests": "2",
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "4s",
      },
    });
    // Another has a limit of its own.
    rates.request("bob");
    clock.advance(1999);
    expect(thrown(() => rates.request("ada"))).toBeInstanceOf(ApiError);
    clock.advance(1);
    rates.request("ada");
  });

  it("A long silence earns no more requests at once than the burst", () => {
    const clock = fakeClock();
    const rates = rateLimits({ requestsPerMinute: 30, burst: 2 }, clock);
    rates.request("ada");
    clock.advance(3_600_000);
    rates.request("ada");
    rates.request("ada");
    expect(thrown(() => rates.request("ada"))).toMatchObject({
      status: 429,
      headers: { "retry-after": "2", "x-ratelimit-remaining-requests": "0" },
    });
  });

  it("are not stopped when somebody sets the time back", () => {
    const clock = fakeClock();
    const rates = rateLimits({ requestsPerMinute: 1 }, clock);
    rates.request("ada");
    clock.jump(-3_600_000);
    clock.advance(60_000);
    expect(rates.request("ada")["x-ratelimit-remaining-requests"]).toBe("0");
  });

  it("are not limited when no limit is given", () => {
    const rates = rateLimits({}, fakeClock());
    for (let at = 0; at < 1000; at++) expect(rates.request("ada")).toEqual({});
  });

  it("are never more than the burst and what was earned; whoever waits as told is let in", () => {
    const clock = fakeClock();
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 600 }),
        fc.integer({ min: 1, max: 20 }),
        fc.array(fc.integer({ min: 0, max: 5000 }), { maxLength: 60 }),
        (requestsPerMinute, burst, pauses) => {
          const rates = rateLimits({ requestsPerMinute, burst }, clock);
          const began = clock.monotonic();
          let taken = 0;
          for (const pause of pauses) {
            clock.advance(pause);
            const refusal = thrown(() => rates.request("ada"));
            if (refusal instanceof ApiError) {
              clock.advance(Number(refusal.headers["retry-after"]) * 1000);
              rates.request("ada");
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

describe("turns", () => {
  it("run as many at once as may, and make room when they end, once each", () => {
    const rates = rateLimits({ turns: 2 }, fakeClock());
    const end = rates.turn("ada");
    rates.turn("ada");
    expect(thrown(() => rates.turn("ada"))).toMatchObject({
      status: 429,
      headers: { "retry-after": "2", "x-should-retry": "true" },
    });
    rates.turn("bob");
    end();
    end();
    rates.turn("ada");
    expect(thrown(() => rates.turn("ada"))).toMatchObject({ status: 429 });
  });
});

it.each([{ requestsPerMinute: 0 }, { burst: Number.NaN }, { turns: -1 }])(
  "refuses %j",
  (limits) => {
    expect(thrown(() => rateLimits(limits, fakeClock()))).toMatchObject({ code: "invalid_option" });
  },
);
