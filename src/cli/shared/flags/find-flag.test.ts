import { describe, expect, it } from "vitest";
import { findFlag } from "./find-flag.ts";

describe("the flag behind an option of the code", () => {
  it.each([
    ["harnessArn", { harness: "x" }, "--harness"],
    ["systemPrompt[0].text", { systemPrompt: "" }, "--system-prompt"],
    ["limits.firstEvent", { firstEventTimeout: 1 }, "--first-event-timeout"],
    ["limits.total", { timeout: 1 }, "--timeout"],
    ["maxTokens", { maxTokens: 1 }, "--max-tokens"],
  ])("%s with %j is %s", (path, flags, flag) => {
    expect(findFlag(path, flags)).toBe(flag);
  });

  it("is none where the option came from elsewhere, such as a file", () => {
    expect(findFlag("roleArn", { spec: "support.yaml" })).toBeUndefined();
    expect(findFlag("toString", {})).toBeUndefined();
  });
});
