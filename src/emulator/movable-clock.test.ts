import { describe, expect, it } from "vitest";
import type { Clock } from "../platform/clock.ts";
import { createMovableClock } from "./movable-clock.ts";

/** A clock that stands still. The test runs the timers of the base clock itself. */
function baseClock() {
  const timers = new Map<() => void, number>();
  const clock: Clock = {
    now: () => 1000,
    schedule(milliseconds, run) {
      timers.set(run, milliseconds);
      return () => timers.delete(run);
    },
  };
  return { clock, timers };
}

describe("Movable clock", () => {
  it("The clock is ahead of its base by the moved time", () => {
    const clock = createMovableClock(baseClock().clock, 5);
    clock.advance(20);
    expect([clock.now(), clock.offset()]).toEqual([1025, 25]);
  });

  it("Moving the clock runs all due timers in order", () => {
    const { clock: base, timers } = baseClock();
    const clock = createMovableClock(base);
    const calls: string[] = [];
    clock.schedule(30, () => calls.push("30"));
    clock.schedule(10, () => calls.push("10"));
    clock.schedule(100, () => calls.push("100"));
    const callOff = clock.schedule(20, () => calls.push("20"));
    callOff();
    clock.advance(30);
    expect(calls).toEqual(["10", "30"]);
    expect([...timers.values()]).toEqual([70]);
    for (const run of timers.keys()) run();
    clock.advance(1000);
    expect(calls).toEqual(["10", "30", "100"]);
  });

  it("A callback can schedule a new timer and cancel another", () => {
    const clock = createMovableClock(baseClock().clock);
    const calls: string[] = [];
    clock.schedule(10, () => {
      calls.push("first");
      callOff();
      clock.schedule(10, () => calls.push("again"));
    });
    const callOff = clock.schedule(20, () => calls.push("never"));
    clock.advance(20);
    expect(calls).toEqual(["first"]);
    clock.advance(10);
    expect(calls).toEqual(["first", "again"]);
  });
});
