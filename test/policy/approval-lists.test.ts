import { expect, it } from "vitest";
import { readPolicyLists } from "../../src/domain/policy/policy-lists.ts";
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

it("The lists of a policy are shown as written", () => {
  expect(readPolicyLists(outer)).toEqual({
    autoApprove: ["get_*", "list_*"],
    autoDeny: ["drop_*"],
    requireApproval: ["edit_*"],
    writePathAllowlist: ["src/**", "docs/**"],
  });
});

it("The lists of merged policies allow only entries that every policy allows", () => {
  expect(readPolicyLists(mergePolicies(outer, inner))).toEqual({
    autoApprove: ["get_*"],
    autoDeny: ["drop_*", "rm_*"],
    requireApproval: ["edit_*"],
    writePathAllowlist: ["src/**"],
  });
});

it("A missing allowlist is null and not an empty list [W-05]", () => {
  expect(readPolicyLists(readPolicy({})).writePathAllowlist).toBeNull();
  expect(readPolicyLists(mergePolicies(readPolicy({}), inner)).writePathAllowlist).toEqual([
    "src/**",
  ]);
  const disjoint = mergePolicies(inner, readPolicy({ write_path_allowlist: ["lib/**"] }));
  expect(readPolicyLists(disjoint).writePathAllowlist).toEqual([]);
});
