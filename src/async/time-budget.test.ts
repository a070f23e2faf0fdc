import { EventEmitter, once } from "node:events";
import { describe, expect, it } from "vitest";
import { createFakeClock } from "../../test/support/fake-clock.ts";
import { startTimeBudget } from "./time-budget.ts";
import { waitUnlessAborted } from "./pause.ts";
import { computeBackoff } from "./retry.ts";

const caller = (): AbortController => new AbortController();

describe("TimeBudget", () => {
  it("A budget aborts its signal when its time is spent and reports the timeout as the cause", () => {
    const clock = createFakeClock();
    const budget = startTimeBudget(clock, caller().signal, 1000);
    clock.advance(400);
    expect([budget.elapsed, budget.remaining, budget.signal.aborted]).toEqual([400, 600, false]);
    clock.advance(700);
    expect([budget.elapsed, budget.remaining, budget.signal.aborted]).toEqual([1100, 0, true]);
    expect(budget.isSpent).toBe(true);
  });

  it("A budget ends with its caller's signal and is not reported as spent", async () => {
    const clock = createFakeClock();
    const stop = caller();
    const budget = startTimeBudget(clock, stop.signal, 1000);
    const pause = budget.pause(500);
    stop.abort("enough");
    await expect(pause).rejects.toBe("enough");
    await expect(budget.pause(1)).rejects.toBe("enough");
    expect(budget.isSpent).toBe(false);
    budget.release();
    expect(clock.pending).toBe(0);
  });

  it("A change of the system clock does not affect a budget", () => {
    const clock = createFakeClock();
    const budget = startTimeBudget(clock, caller().signal, 1000);
    clock.jump(3_600_000);
    clock.advance(400);
    expect([budget.elapsed, budget.remaining, budget.signal.aborted]).toEqual([400, 600, false]);
    clock.jump(-7_200_000);
    expect([budget.elapsed, budget.withLimit(5000).remaining]).toEqual([400, 600]);
    clock.advance(600);
    expect([budget.remaining, budget.isSpent]).toEqual([0, true]);
  });

  it("A part of a budget never has more time than the rest of the whole budget", () => {
    const clock = createFakeClock();
    const budget = startTimeBudget(clock, caller().signal, 1000);
    clock.advance(800);
    const [short, long] = [budget.withLimit(100), budget.withLimit(5000)];
    expect([short.remaining, long.remaining]).toEqual([100, 200]);
    clock.advance(100);
    expect([short.isSpent, long.isSpent, budget.isSpent]).toEqual([true, false, false]);
    clock.advance(100);
    expect([long.signal.aborted, budget.isSpent]).toEqual([true, true]);
  });

  it("A released budget leaves no timer and never aborts", async () => {
    const clock = createFakeClock();
    const budget = startTimeBudget(clock, caller().signal, 1000);
    const pause = budget.pause(10);
    clock.advance(10);
    await pause;
    budget.release();
    expect(clock.pending).toBe(0);
    clock.advance(5000);
    expect(budget.signal.aborted).toBe(false);
  });
});

describe("waitUnlessAborted", () => {
  it("A wait ends with its signal even if the work cannot be cancelled, and a late error is ignored", async () => {
    const stop = caller();
    const late = new EventEmitter();
    const waited = waitUnlessAborted(once(late, "over"), stop.signal);
    stop.abort("enough");
    await expect(waited).rejects.toBe("enough");
    late.emit("error", new Error("late"));
    await expect(waitUnlessAborted(Promise.resolve(1), stop.signal)).rejects.toBe("enough");
  });
});

describe("Backoff", () => {
  it("A backoff doubles up to its maximum and adds random jitter of up to half [AC-61]", () => {
    const rules = { first: 100, longest: 300 };
    expect([1, 2, 3, 9].map((made) => computeBackoff(made, 0, rules))).toEqual([50, 100, 150, 150]);
    expect([1, 2, 3, 9].map((made) => computeBackoff(made, 0.999, rules)).map(Math.round)).toEqual([
      100, 200, 300, 300,
    ]);
  });
});
