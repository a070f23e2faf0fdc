import { describe, expect, it } from "vitest";
import { findFlag } from "./find-flag.ts";

describe("The flag of an option", () => {
  it.each([
    ["harnessArn", { harness: "x" }, "--harness"],
    ["systemPrompt[0].text", { systemPrompt: "" }, "--system-prompt"],
    ["limits.firstEvent", { firstEventTimeout: 1 }, "--first-event-timeout"],
    ["limits.total", { timeout: 1 }, "--timeout"],
    ["maxTokens", { maxTokens: 1 }, "--max-tokens"],
  ])("The option %s with the flags %j belongs to %s", (path, flags, flag) => {
    expect(findFlag(path, flags)).toBe(flag);
  });

  it("An option from a file, not from a flag, has no flag", () => {
    expect(findFlag("roleArn", { spec: "support.yaml" })).toBeUndefined();
    expect(findFlag("toString", {})).toBeUndefined();
  });
});
