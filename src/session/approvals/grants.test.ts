import { describe, expect, it } from "vitest";
import type { PolicyDecision } from "../../domain/policy/policy-decision.ts";
import { initialApprovals, type Grant } from "./approvals-state.ts";
import { createGrantScope } from "./grant-scope.ts";
import { findGrant } from "./grants.ts";

const DECISION: PolicyDecision = {
  action: "ask",
  approvers: 1,
  rule: { source: "rules", action: "ask", index: 0, id: null },
  reason: "The rules say so",
  labels: [],
  context: {
    tool: "pay",
    kind: "other",
    sideEffect: "none",
    paths: [],
    capabilities: [],
    repeats: 0,
  },
};

const GRANT: Grant = { grantId: "grant_1", scope: createGrantScope(DECISION, "digest") };

describe("findGrant", () => {
  it("A grant answers a request that needs one approver, and none that needs several", () => {
    const state = { ...initialApprovals, grants: [GRANT] };
    expect(findGrant(state, DECISION, "digest")).toEqual(GRANT);
    expect(findGrant(state, { ...DECISION, approvers: 2 }, "digest")).toBeUndefined();
  });
});
