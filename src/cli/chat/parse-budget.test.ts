import { describe, expect, it } from "vitest";
import { parseBudget } from "./parse-budget.ts";

describe("The budget of a chat", () => {
  it("A budget is a list of units with their amounts", () => {
    expect(parseBudget("tokens=20000, toolCalls=10,usd=0.5")).toEqual({
      tokens: 20_000,
      toolCalls: 10,
      usd: 0.5,
    });
  });

  it.each([
    ["", "is not a list of UNIT=AMOUNT"],
    ["20000", "is not a list of UNIT=AMOUNT"],
    ["tokens=1=2", "is not a list of UNIT=AMOUNT"],
    ["tokens=1,tokens=2", "names a unit twice"],
    ["tokens=0", "budget.tokens"],
    ["tokens=", "budget.tokens"],
    ["tokens=many", "budget.tokens"],
    ["token=1", "budget.token"],
  ])("The budget %j is refused with the reason", (text, reason) => {
    expect(() => parseBudget(text)).toThrow(reason);
  });
});
