import { describe, expect, it } from "vitest";
import { checkTargets, type Row } from "../bench/report.ts";

function rowWith(ratios: Row["ratios"]): Row {
  return { title: "decode", unit: "µs", measured: [], growth: [], ratios };
}

const FASTER = { text: "peer ÷ ours", target: 7, bound: "at least" } as const;
const SMALLER = { text: "ours, MB", target: 80, bound: "at most" } as const;

describe("Benchmark targets", () => {
  it("A row that meets its targets does not fail the check", () => {
    const row = rowWith([
      { ...FASTER, value: 7 },
      { ...SMALLER, value: 80 },
    ]);
    expect(checkTargets("decode", row, {})).toEqual([]);
  });

  it("A missed target fails the check and is named with its value", () => {
    const row = rowWith([
      { ...FASTER, value: 6.9 },
      { ...SMALLER, value: 81 },
      { text: "unmeasured", value: Number.NaN, target: 1, bound: "at most" },
    ]);
    expect(checkTargets("decode", row, {})).toEqual([
      "decode: peer ÷ ours is 6.90, expected at least 7",
      "decode: ours, MB is 81.00, expected at most 80",
      "decode: unmeasured is NaN, expected at most 1",
    ]);
  });

  it("A known miss does not fail the check and applies to its own row only", () => {
    const row = rowWith([{ ...FASTER, value: 1 }]);
    expect(checkTargets("decode", row, { decode: ["peer ÷ ours"] })).toEqual([]);
    expect(checkTargets("decode", row, { fold: ["peer ÷ ours"] })).toHaveLength(1);
  });

  it("A known miss that names no ratio of its row fails the check", () => {
    const row = rowWith([{ ...FASTER, value: 8 }]);
    expect(checkTargets("decode", row, { decode: ["peer / ours"] })).toEqual([
      'decode: the known miss "peer / ours" is not a ratio of this row',
    ]);
  });
});
