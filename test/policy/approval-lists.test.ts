import { expect, it } from "vitest";
import { approvalLists } from "../../src/domain/approval-lists.ts";
import { readPolicy } from "../../src/policy/document/read-policy.ts";
import { mergePolicies } from "../../src/policy/merge-policies.ts";

const outer = readPolicy({
  auto_approve: ["get_*", "list_*"],
  auto_deny: ["drop_*"],
  require_approval: ["edit_*"],
  write_path_allowlist: ["src/**", "docs/**"],
  rules: [{ deny: "x" }],
});
const inner = readPolicy({
  auto_approve: ["get_*"],
  auto_deny: ["rm_*"],
  write_path_allowlist: ["src/**"],
});

it("the lists of a policy are shown as they were written", () => {
  expect(approvalLists(outer)).toEqual({
    autoApprove: ["get_*", "list_*"],
    autoDeny: ["drop_*"],
    requireApproval: ["edit_*"],
    writePathAllowlist: ["src/**", "docs/**"],
  });
});

it("of merged policies nothing is shown as allowed that one does not list", () => {
  expect(approvalLists(mergePolicies(outer, inner))).toEqual({
    autoApprove: ["get_*"],
    autoDeny: ["drop_*", "rm_*"],
    requireApproval: ["edit_*"],
    writePathAllowlist: ["src/**"],
  });
});

it("no list is not an empty one [W-05]", () => {
  expect(approvalLists(readPolicy({})).writePathAllowlist).toBeNull();
  expect(approvalLists(mergePolicies(readPolicy({}), inner)).writePathAllowlist).toEqual([
    "src/**",
  ]);
  const disjoint = mergePolicies(inner, readPolicy({ write_path_allowlist: ["lib/**"] }));
  expect(approvalLists(disjoint).writePathAllowlist).toEqual([]);
});
