import { describe, expect, it } from "vitest";
import { createClockStore } from "./clock-store.ts";
import { createFakeClock } from "../../../test/support/fake-clock.ts";

describe("The clock of the views", () => {
  it("All views are notified by one timer, on the second", () => {
    const clock = createFakeClock(10_400);
    const store = createClockStore(clock);
    const times: number[] = [];
    const unsubscribe = store.subscribe(() => times.push(store.now()));
    store.subscribe(() => times.push(store.now()));
    clock.advance(600);
    clock.advance(1000);
    unsubscribe();
    clock.advance(1000);
    expect(times).toEqual([11_000, 11_000, 12_000, 12_000, 13_000]);
  });

  it("Without views no timer runs, and the time is still current", () => {
    const clock = createFakeClock(10_400);
    const store = createClockStore(clock);
    store.subscribe(() => {})();
    expect(clock.pending).toBe(0);
    clock.advance(5000);
    expect(store.now()).toBe(15_000);
  });
});
