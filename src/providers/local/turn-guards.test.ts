import { describe, expect, it } from "vitest";
import { parseGuards } from "./turn-guards.ts";

describe("Turn guard settings", () => {
  it("All guards are enabled with known defaults", () => {
    expect(parseGuards()).toEqual({
      repeatedCalls: { most: 1, exempt: [], rounds: 3 },
      failingTools: { after: 2 },
      lastSteps: { within: 1 },
    });
  });

  it("Each guard can be changed or disabled separately", () => {
    expect(parseGuards({ repeatedCalls: { exempt: ["wait_*"] }, failingTools: false })).toEqual({
      repeatedCalls: { most: 1, exempt: ["wait_*"], rounds: 3 },
      failingTools: null,
      lastSteps: { within: 1 },
    });
  });

  it.each([
    ["guards.repeatedCalls.most", { repeatedCalls: { most: 0 } }],
    ["guards.repeatedCalls.rounds", { repeatedCalls: { rounds: 1.5 } }],
    ["guards.repeatedCalls.exempt", { repeatedCalls: { exempt: [1] } }],
    ["guards.repeatedCalls.exampt", { repeatedCalls: { exampt: [] } }],
    ["guards.failingTools.after", { failingTools: { after: "2" } }],
    ["guards.lastSteps", { lastSteps: true }],
    ["guards.repeated", { repeated: false }],
    ["guards", 1],
  ])("Invalid settings are refused with the path %s", (path, input) => {
    expect(() => parseGuards(JSON.parse(JSON.stringify(input)))).toThrowError(
      expect.objectContaining({ code: "invalid_option", details: { path } }),
    );
  });
});
