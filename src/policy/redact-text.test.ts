import { describe, expect, it } from "vitest";
import { createTextRedactor, findPatternProblem } from "./redact-text.ts";

describe("createTextRedactor", () => {
  it("Every match is replaced and counted, and other text is the same", () => {
    const redact = createTextRedactor({ redact: ["acct-[0-9]{4}", "x*"] });
    expect(redact?.("acct-1234, acct-5678 and acct-1")).toEqual({
      text: "[redacted], [redacted] and acct-1",
      count: 2,
    });
    expect(redact?.("nothing here")).toEqual({ text: "nothing here", count: 0 });
  });

  it.each([
    ["an AWS key", `AKIA${"A1B2C3D4".repeat(2)}`],
    ["a GitHub token", `ghp_${"a1".repeat(18)}`],
    ["an API key", `sk-${"a1B2".repeat(6)}`],
    ["a JSON web token", `eyJ${"a".repeat(12)}.${"b".repeat(12)}.${"c".repeat(12)}`],
    ["a private key", "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----"],
  ])("The well-known format of %s is replaced", (_, secret) => {
    const redact = createTextRedactor({ redactSecrets: true });
    expect(redact?.(`before ${secret} after`)).toEqual({
      text: "before [redacted] after",
      count: 1,
    });
  });

  it("Without patterns, createTextRedactor returns undefined", () => {
    expect(createTextRedactor({ policy: "raw" })).toBeUndefined();
  });

  it("An invalid pattern has a problem, and a pattern with a lookahead is not RE2", () => {
    expect(findPatternProblem("[a-z]+")).toBeUndefined();
    expect(findPatternProblem("[a-")).toBeDefined();
    expect(findPatternProblem("(?=a)b")).toBeDefined();
  });
});
