import { describe, expect, it } from "vitest";
import { cutText } from "./cut-text.ts";

describe("Cutting a text", () => {
  it.each([
    ["abc", 3, "abc"],
    ["abc", 2, "ab"],
    ["a😀b", 4, "a😀b"],
    ["a😀b", 3, "a😀"],
    ["a😀b", 2, "a"],
    ["😀", 1, ""],
    ["abc", 0, ""],
    ["", 0, ""],
  ])("%j with at most %i code units is %j", (text, limit, beginning) => {
    expect(cutText(text, limit)).toBe(beginning);
  });
});
