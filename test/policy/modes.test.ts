import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { PolicyDecision } from "../../src/domain/policy/policy-decision.ts";
import { SESSION_MODES } from "../../src/domain/session-mode.ts";
import { readPolicy } from "../../src/policy/document/read-policy.ts";
import { evaluatePolicy } from "../../src/policy/evaluate-policy.ts";
import { applyMode } from "../../src/policy/apply-mode.ts";
import { document, judged } from "./policy-arbitraries.ts";
import { allowLongTests, runs } from "../support/test-depth.ts";

allowLongTests();

const ORDER = ["allow", "ask", "deny"];

function strictness({ action, approvers }: PolicyDecision): number {
  return ORDER.indexOf(action) * 100 + approvers;
}

function allowed(kind: string, sideEffect: string): PolicyDecision {
  const policy = readPolicy({ default: "allow" });
  const traits = { kind, sideEffect } as PolicyDecision["context"];
  const context = { ...traits, tool: "it", paths: [], capabilities: [], repeats: 0 };
  return evaluatePolicy(policy, context, {});
}

describe("Session modes", () => {
  it("A stricter session mode never allows more under any policy [ACP-41]", () => {
    fc.assert(
      fc.property(document, judged, (rules, { context, input }) => {
        const decision = evaluatePolicy(readPolicy(rules), context, input);
        const strict = SESSION_MODES.map((mode) => strictness(applyMode(decision, mode)));
        expect(strict).toEqual(strict.toSorted((one, other) => one - other));
        expect(strict[0]).toBe(strictness(decision));
      }),
      { numRuns: runs(2_500) },
    );
  });

  it.each([
    ["read", "read_only", "allow", "allow"],
    ["think", "none", "allow", "allow"],
    ["fetch", "read_only", "allow", "allow"],
    ["fetch", "network", "ask", "deny"],
    ["edit", "workspace_write", "ask", "deny"],
    ["execute", "read_only", "ask", "deny"],
    ["read", "process_exec", "ask", "deny"],
    ["other", "none", "ask", "deny"],
    ["nonsense", "none", "ask", "deny"],
    ["read", "nonsense", "ask", "deny"],
  ])("Every session mode treats %s with %s as documented", (kind, sideEffect, ask, readOnly) => {
    const decision = allowed(kind, sideEffect);
    expect(decision.action).toBe("allow");
    expect(applyMode(decision, "default")).toBe(decision);
    expect(applyMode(decision, "ask").action).toBe(ask);
    expect(applyMode(decision, "read-only").action).toBe(readOnly);
  });

  it("A decision by the session mode names the mode in the receipt and tells the model its options", () => {
    const decision = allowed("edit", "workspace_write");
    expect(applyMode(decision, "ask")).toEqual({
      ...decision,
      action: "ask",
      reason: 'The session is in the mode "ask": it does more than read',
      rule: { source: "session_mode", action: "ask", id: "ask", index: 0 },
      labels: ["approval_required", "session_mode"],
      approvers: 1,
    });
    expect(applyMode(decision, "read-only")).toEqual({
      ...decision,
      action: "deny",
      reason:
        'The session is in the mode "read-only", which runs only read-only tools; it does more than read',
      rule: { source: "session_mode", action: "deny", id: "read-only", index: 0 },
      labels: ["session_mode"],
      approvers: 0,
    });
  });
});
