import { describe, expect, it } from "vitest";
import {
  NO_TOOL_CALLS,
  countRepeats,
  countToolCall,
  type ToolCallCounts,
} from "./tool-call-counts.ts";

/** Counts calls, each identified by a number, in both ways. */
function made(numbers: Iterable<number>) {
  const counts = new Map<number, number>();
  let calls: ToolCallCounts = NO_TOOL_CALLS;
  for (const n of numbers) {
    counts.set(n, (counts.get(n) ?? 0) + 1);
    calls = countToolCall(calls, "pay", { n });
  }
  return { calls, counts };
}

const upTo = (end: number, from = 0) => Array.from({ length: end - from }, (_, at) => from + at);

describe("countToolCall", () => {
  it("Calls are counted separately per arguments", () => {
    const { calls } = made([1, 2, 1]);
    expect([1, 2, 3].map((n) => countRepeats(calls, "pay", { n }))).toEqual([
      { repeats: 2, uncountedRepeats: 0 },
      { repeats: 1, uncountedRepeats: 0 },
      { repeats: 0, uncountedRepeats: 0 },
    ]);
    expect(countRepeats(calls, "look", { n: 1 })).toMatchObject({ repeats: 0 });
  });

  it("The most frequent calls are kept exactly, and all others as an upper bound", () => {
    const { calls } = made([...upTo(10), ...upTo(10), ...upTo(5000, 10)]);
    expect(calls.entries).toHaveLength(4096);
    expect(countRepeats(calls, "pay", { n: 3 })).toEqual({ repeats: 2, uncountedRepeats: 0 });
    expect(countRepeats(calls, "pay", { n: 10 })).toEqual({ repeats: 0, uncountedRepeats: 1 });
    expect(countRepeats(calls, "pay", { n: -1 })).toEqual({ repeats: 0, uncountedRepeats: 1 });
  });

  it.each([
    ["all calls repeated once", [...upTo(4200), ...upTo(4200)]],
    [
      "some calls repeated more often",
      [...upTo(4100), ...upTo(300), ...upTo(4300, 3900), ...upTo(50)],
    ],
  ])(
    "Calls are never counted too low in total, and never too high for certain: %s",
    (_, numbers) => {
      const { calls, counts } = made(numbers);
      const wrong = [...counts].filter(([n, count]) => {
        const { repeats, uncountedRepeats } = countRepeats(calls, "pay", { n });
        return repeats > count || repeats + uncountedRepeats < count;
      });
      expect(wrong).toEqual([]);
    },
  );
});
