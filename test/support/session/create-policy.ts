import type { Matcher, Policy, PolicyLayer, Rule } from "../../../src/domain/policy/policy.ts";
import type { PolicyAction } from "../../../src/domain/policy/policy-decision.ts";

/** A rule: the tool, the action, the required approvers if the action is `ask`, and further conditions. */
export type RuleLine = readonly [
  tool: string,
  action: PolicyAction,
  approvers?: number,
  match?: Matcher,
];

/** A policy with a single layer. */
export function createPolicy(lines: readonly RuleLine[], layer: Partial<PolicyLayer> = {}): Policy {
  const rules = lines.map(([tool, action, approvers = 1, match = {}], index): Rule => {
    const facts = { source: "rules", index, id: null, reason: null, approval: null } as const;
    const requiredApprovers = action === "ask" ? approvers : 0;
    return { ...facts, action, match: { tool: [tool], ...match }, approvers: requiredApprovers };
  });
  return {
    layers: [
      {
        rules,
        writePathAllowlist: null,
        sensitivePathPatterns: [],
        allowSensitivePaths: false,
        externalRoots: [],
        allowExternalPaths: false,
        allowUnparsedCommands: false,
        repeatLimit: null,
        repeatAction: "ask",
        default: "ask",
        ...layer,
      },
    ],
  };
}
