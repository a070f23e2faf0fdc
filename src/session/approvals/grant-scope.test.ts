import { describe, expect, it } from "vitest";
import type { MatchedRule, PolicyDecision } from "../../domain/policy-decision.ts";
import { isWithin, scopeOf } from "./grant-scope.ts";

const RULE: MatchedRule = { source: "rules", action: "ask", id: "git", index: 2, layer: 1 };

function asked(command: string | undefined, rule: MatchedRule | null = RULE): PolicyDecision {
  return {
    action: "ask",
    reason: "Commands are looked at",
    rule,
    labels: [],
    approvers: 1,
    context: {
      tool: "shell",
      kind: "execute",
      sideEffect: "process_exec",
      paths: [],
      capabilities: [],
      repeats: 0,
      ...(command !== undefined && { command }),
    },
  };
}

describe("the scope of a yes for good", () => {
  const scope = scopeOf(asked("git status"), "1");

  it("is the tool, the rule that asked and the very command [ACP-99]", () => {
    expect(scope).toEqual({ tool: "shell", rule: RULE, command: "git status", digest: "1" });
    expect(isWithin(scope, scopeOf(asked("git status"), "1"))).toBe(true);
  });

  it("is not that of other arguments which read like the same command [ACP-99]", () => {
    expect(isWithin(scope, scopeOf(asked("git status"), "2"))).toBe(false);
    expect(isWithin(scopeOf(asked(undefined), "1"), scopeOf(asked(undefined), "2"))).toBe(false);
  });

  it.each<[string, PolicyDecision]>([
    ["a rule of another name", asked("git status", { ...RULE, id: "other" })],
    ["a rule at another place", asked("git status", { ...RULE, index: 3 })],
    ["a rule of another layer", asked("git status", { ...RULE, layer: 0 })],
    ["a rule of another part of the policy", asked("git status", { ...RULE, source: "auto_deny" })],
    ["no rule", asked("git status", null)],
  ])("is not that of %s [ACP-99]", (_, other) => {
    expect(isWithin(scope, scopeOf(other, "1"))).toBe(false);
    expect(isWithin(scopeOf(other, "1"), scope)).toBe(false);
  });

  it("is that of calls about which no more rules ask, and not of those about which more do", () => {
    const other = { ...RULE, index: 5 };
    const both = scopeOf({ ...asked("git status"), others: [other] }, "1");
    expect(both).toMatchObject({ rule: RULE, others: [other] });
    expect([isWithin(scope, both), isWithin(both, scope)]).toEqual([true, false]);
    const byDefault = scopeOf({ ...asked("git status"), others: [null] }, "1");
    expect([isWithin(scope, byDefault), isWithin(byDefault, scope)]).toEqual([true, false]);
  });

  it("of a tool that runs no commands is whatever the same rule asks about", () => {
    const { context, ...rest } = asked(undefined, null);
    const writing = { ...rest, context: { ...context, kind: "edit", tool: "write" } } as const;
    expect(scopeOf(writing, "1")).toEqual({ tool: "write", rule: null });
    expect(isWithin(scopeOf(writing, "1"), scopeOf(writing, "2"))).toBe(true);
  });
});
