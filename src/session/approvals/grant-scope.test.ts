import { describe, expect, it } from "vitest";
import type { MatchedRule, PathFact, PolicyDecision } from "../../domain/policy/policy-decision.ts";
import { isCoveredBy, createGrantScope, formatGrantScope } from "./grant-scope.ts";

const RULE: MatchedRule = { source: "rules", action: "ask", id: "git", index: 2, layer: 1 };

function createDecision(
  command: string | undefined,
  rule: MatchedRule | null = RULE,
): PolicyDecision {
  return {
    action: "ask",
    reason: "Commands need approval",
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

describe("The scope of a grant", () => {
  const scope = createGrantScope(createDecision("git status"), "1");

  it("A grant covers the tool, the asking rule and the exact command [ACP-99]", () => {
    expect(scope).toEqual({ tool: "shell", rule: RULE, command: "git status", digest: "1" });
    expect(isCoveredBy(scope, createGrantScope(createDecision("git status"), "1"))).toBe(true);
  });

  it("A grant does not cover other arguments which look like the same command [ACP-99]", () => {
    expect(isCoveredBy(scope, createGrantScope(createDecision("git status"), "2"))).toBe(false);
    expect(
      isCoveredBy(
        createGrantScope(createDecision(undefined), "1"),
        createGrantScope(createDecision(undefined), "2"),
      ),
    ).toBe(false);
  });

  it.each<[string, PolicyDecision]>([
    ["a rule of another name", createDecision("git status", { ...RULE, id: "other" })],
    ["a rule at another place", createDecision("git status", { ...RULE, index: 3 })],
    ["a rule of another layer", createDecision("git status", { ...RULE, layer: 0 })],
    [
      "a rule of another part of the policy",
      createDecision("git status", { ...RULE, source: "auto_deny" }),
    ],
    ["no rule", createDecision("git status", null)],
  ])("A grant does not cover a request by %s [ACP-99]", (_, other) => {
    expect(isCoveredBy(scope, createGrantScope(other, "1"))).toBe(false);
    expect(isCoveredBy(createGrantScope(other, "1"), scope)).toBe(false);
  });

  it("A grant covers calls with the same or fewer asking rules, not with more", () => {
    const other = { ...RULE, index: 5 };
    const both = createGrantScope({ ...createDecision("git status"), otherRules: [other] }, "1");
    expect(both).toMatchObject({ rule: RULE, otherRules: [other] });
    expect([isCoveredBy(scope, both), isCoveredBy(both, scope)]).toEqual([true, false]);
    const byDefault = createGrantScope(
      { ...createDecision("git status"), otherRules: [null] },
      "1",
    );
    expect([isCoveredBy(scope, byDefault), isCoveredBy(byDefault, scope)]).toEqual([true, false]);
  });

  const at = (hostPath: string, argument = "path"): PathFact => ({
    argument,
    input: hostPath,
    location: "inside",
    workspacePath: hostPath.slice("/work/".length),
    hostPath,
  });

  const editing = (paths: readonly PathFact[], parts: Partial<PolicyDecision> = {}) => {
    const { context, ...rest } = createDecision(undefined, null);
    const edit = { tool: "edit_file", kind: "edit", sideEffect: "workspace_write" } as const;
    return { ...rest, ...parts, context: { ...context, ...edit, paths } };
  };
  const covers = (input: PolicyDecision, next: PolicyDecision) =>
    isCoveredBy(createGrantScope(next, "2"), createGrantScope(input, "1"));

  it("A grant for a tool with paths covers the targets of the paths, whatever the other arguments [ACP-99]", () => {
    const readme = editing([at("/work/README.md")]);
    expect(createGrantScope(readme, "1")).toEqual({
      tool: "edit_file",
      rule: null,
      paths: [{ argument: "path", hostPath: "/work/README.md" }],
    });
    expect(formatGrantScope(readme)).toBe("edit_file of README.md");
    expect(covers(readme, editing([{ ...at("/work/README.md"), input: "./README.md" }]))).toBe(
      true,
    );
    expect(covers(readme, editing([at("/work/.git/config")]))).toBe(false);
    expect(covers(readme, editing([at("/work/README.md"), at("/work/a", "to")]))).toBe(false);
    expect(covers(readme, editing([at("/work/README.md", "to")]))).toBe(false);
    const nowhere = editing([{ ...at("/work/a"), location: "invalid", hostPath: null }]);
    expect(covers(nowhere, nowhere)).toBe(false);
    const reading = { ...readme, context: { ...readme.context, sideEffect: "read_only" } } as const;
    expect(createGrantScope(reading, "1").paths).toHaveLength(1);
  });

  it("A grant from a path rule covers every call for which the rule asks", () => {
    const byPath = { rule: RULE, labels: ["path_rule"] };
    const docs = editing([at("/work/docs/a.md")], byPath);
    expect(formatGrantScope(docs)).toBe("edit_file wherever the rule git asks");
    expect(covers(docs, editing([at("/work/docs/b.md")], byPath))).toBe(true);
    // The second rule applies to any path.
    const otherRules = [{ ...RULE, index: 5 }];
    expect(
      createGrantScope(editing([at("/work/docs/a.md")], { ...byPath, otherRules }), "1").paths,
    ).toHaveLength(1);
  });

  it("A grant for a tool with unclear paths covers only the same arguments [ACP-99]", () => {
    const { context, ...rest } = editing([at("/work/a")]);
    const unclear = { ...rest, context: { ...context, pathsUnclear: "path is not a string" } };
    expect(createGrantScope(unclear, "1").digest).toBe("1");
    expect(formatGrantScope(unclear)).toBe("edit_file with just these arguments");
  });

  it("A grant for a read-only tool without paths covers the tool under the same rules", () => {
    const { context, ...rest } = createDecision(undefined, null);
    const kind = { kind: "read", sideEffect: "read_only", tool: "weather" } as const;
    const reading = { ...rest, context: { ...context, ...kind } };
    expect(createGrantScope(reading, "1")).toEqual({ tool: "weather", rule: null });
    expect([covers(reading, reading), formatGrantScope(reading)]).toEqual([true, "weather"]);
  });

  it("A grant from an older log with only a tool and a rule does not cover calls which need more now [ACP-99]", () => {
    const old = { tool: "edit_file", rule: null };
    expect(isCoveredBy(createGrantScope(editing([at("/work/a")]), "1"), old)).toBe(false);
    const undeclared = {
      ...createDecision(undefined, null).context,
      sideEffect: "network",
      kind: "other",
    };
    const call = { ...createDecision(undefined, null), context: undeclared } as PolicyDecision;
    expect(isCoveredBy(createGrantScope(call, "1"), { tool: "shell", rule: null })).toBe(false);
  });
});
