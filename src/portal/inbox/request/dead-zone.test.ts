import { describe, expect, it } from "vitest";
import {
  acceptLayout,
  getDeadTime,
  getLongestDeadTime,
  NO_DEAD_ZONE,
  recordLayout,
} from "./dead-zone.ts";

const layout = (tops: { readonly [key: string]: number }) => new Map(Object.entries(tops));

describe("The dead zone after a layout change", () => {
  const first = recordLayout(NO_DEAD_ZONE, layout({ a: 0, b: 100 }), 1000);

  it("The first layout blocks nothing", () => {
    expect(getLongestDeadTime(first, 1000)).toBe(0);
  });

  it("A card that moved into the place of another ignores decisions for 1.5 seconds", () => {
    const moved = recordLayout(first, layout({ b: 0 }), 2000);
    expect(getDeadTime(moved, "b", 2000)).toBe(1500);
    expect(getDeadTime(moved, "b", 3499)).toBe(1);
    expect(getDeadTime(moved, "b", 3500)).toBe(0);
  });

  it("A card that did not move is not blocked", () => {
    const grown = recordLayout(first, layout({ a: 0, b: 100, c: 200 }), 2000);
    expect(getDeadTime(grown, "a", 2000)).toBe(0);
    expect(getDeadTime(grown, "c", 2000)).toBe(1500);
  });

  it("Another layout without a move does not extend the time", () => {
    const moved = recordLayout(first, layout({ a: 50, b: 150 }), 2000);
    const same = recordLayout(moved, layout({ a: 50, b: 150 }), 3000);
    expect(getDeadTime(same, "a", 3000)).toBe(500);
  });

  it("A shift of a few pixels is not a move", () => {
    expect(getLongestDeadTime(recordLayout(first, layout({ a: 3, b: 103 }), 2000), 2000)).toBe(0);
  });

  it("A move caused by the person at the card blocks nothing, and the next move does", () => {
    const accepted = acceptLayout(first, layout({ a: 50, b: 150 }));
    expect(getLongestDeadTime(accepted, 2000)).toBe(0);
    const moved = recordLayout(accepted, layout({ a: 0, b: 150 }), 2000);
    expect([getDeadTime(moved, "a", 2000), getDeadTime(moved, "b", 2000)]).toEqual([1500, 0]);
  });

  it("Removed cards are forgotten", () => {
    const moved = recordLayout(first, layout({ b: 0 }), 2000);
    expect(recordLayout(moved, layout({}), 2100).movedAt.size).toBe(0);
  });
});
