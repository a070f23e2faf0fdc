import { EventEmitter, once } from "node:events";
import { describe, expect, it } from "vitest";
import { createFakeClock } from "../../test/support/fake-clock.ts";
import { startBudget } from "./budget.ts";
import { waitUnlessAborted } from "./pause.ts";
import { computeBackoff } from "./retry.ts";

const caller = (): AbortController => new AbortController();

describe("a budget", () => {
  it("ends with its time, and knows that it was that", () => {
    const clock = createFakeClock();
    const budget = startBudget(clock, caller().signal, 1000);
    clock.advance(400);
    expect([budget.elapsed, budget.remaining, budget.signal.aborted]).toEqual([400, 600, false]);
    clock.advance(700);
    expect([budget.elapsed, budget.remaining, budget.signal.aborted]).toEqual([1100, 0, true]);
    expect(budget.isSpent).toBe(true);
  });

  it("ends with its caller, and knows that it was him", async () => {
    const clock = createFakeClock();
    const stop = caller();
    const budget = startBudget(clock, stop.signal, 1000);
    const pause = budget.pause(500);
    stop.abort("enough");
    await expect(pause).rejects.toBe("enough");
    await expect(budget.pause(1)).rejects.toBe("enough");
    expect(budget.isSpent).toBe(false);
    budget.release();
    expect(clock.pending).toBe(0);
  });

  it("does not mind that somebody sets the time of day", () => {
    const clock = createFakeClock();
    const budget = startBudget(clock, caller().signal, 1000);
    clock.jump(3_600_000);
    clock.advance(400);
    expect([budget.elapsed, budget.remaining, budget.signal.aborted]).toEqual([400, 600, false]);
    clock.jump(-7_200_000);
    expect([budget.elapsed, budget.withLimit(5000).remaining]).toEqual([400, 600]);
    clock.advance(600);
    expect([budget.remaining, budget.isSpent]).toEqual([0, true]);
  });

  it("has parts that are never longer than what is left of it", () => {
    const clock = createFakeClock();
    const budget = startBudget(clock, caller().signal, 1000);
    clock.advance(800);
    const [short, long] = [budget.withLimit(100), budget.withLimit(5000)];
    expect([short.remaining, long.remaining]).toEqual([100, 200]);
    clock.advance(100);
    expect([short.isSpent, long.isSpent, budget.isSpent]).toEqual([true, false, false]);
    clock.advance(100);
    expect([long.signal.aborted, budget.isSpent]).toEqual([true, true]);
  });

  it("leaves nothing behind", async () => {
    const clock = createFakeClock();
    const budget = startBudget(clock, caller().signal, 1000);
    const pause = budget.pause(10);
    clock.advance(10);
    await pause;
    budget.release();
    expect(clock.pending).toBe(0);
    clock.advance(5000);
    expect(budget.signal.aborted).toBe(false);
  });
});

describe("waiting for what cannot be ended", () => {
  it("ends all the same, and what it comes to later is nobody's concern", async () => {
    const stop = caller();
    const late = new EventEmitter();
    const waited = waitUnlessAborted(once(late, "over"), stop.signal);
    stop.abort("enough");
    await expect(waited).rejects.toBe("enough");
    late.emit("error", new Error("late"));
    await expect(waitUnlessAborted(Promise.resolve(1), stop.signal)).rejects.toBe("enough");
  });
});

describe("a backoff", () => {
  it("doubles up to its longest, and is at random in its upper half [AC-61]", () => {
    const rules = { first: 100, longest: 300 };
    expect([1, 2, 3, 9].map((made) => computeBackoff(made, 0, rules))).toEqual([50, 100, 150, 150]);
    expect([1, 2, 3, 9].map((made) => computeBackoff(made, 0.999, rules)).map(Math.round)).toEqual([
      100, 200, 300, 300,
    ]);
  });
});
