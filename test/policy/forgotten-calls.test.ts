import { describe, expect, it } from "vitest";
import { createPolicyContext, readCallFacts } from "../../src/policy/facts/tool-call-facts.ts";
import { readPolicy } from "../../src/policy/document/read-policy.ts";
import { evaluatePolicy } from "../../src/policy/evaluate-policy.ts";

const TOOL = {
  name: "pay",
  description: "Pays",
  schema: { type: "object" },
  idempotent: false,
  timeoutMs: 1000,
} as const;

/** The decision for a tool call which may be a repeat, when the session no longer remembers all tool calls. */
function judged(policy: object) {
  const context = { ...createPolicyContext(readCallFacts(TOOL, {}), [], 0), uncountedRepeats: 1 };
  const { action, reason } = evaluatePolicy(readPolicy(policy), context, {});
  return { action, reason };
}

describe("Tool calls that may be repeats", () => {
  it("A possible repeat counts as a repeat for rules that deny or ask, and the reason says so", () => {
    const reason =
      "pay may have been called with the same arguments before: there were too many calls to count";
    const limited = { default: "allow", repeat_limit: 1 };
    expect(judged({ ...limited, repeat_action: "deny" })).toEqual({ action: "deny", reason });
    expect(judged({ ...limited, repeat_action: "ask" })).toEqual({ action: "ask", reason });
    const rule = { deny: { tool: "pay", repeat_count_at_least: 1 } };
    expect(judged({ default: "allow", rules: [rule] })).toMatchObject({ action: "deny" });
    expect(judged({ default: "allow", repeat_limit: 2 })).toMatchObject({ action: "allow" });
  });

  it("A possible repeat does not count as a repeat for rules that allow", () => {
    const rule = { allow: { tool: "pay", repeat_count_at_least: 1 } };
    expect(judged({ default: "deny", rules: [rule] })).toMatchObject({ action: "deny" });
  });
});
