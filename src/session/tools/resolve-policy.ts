import type { AgentSpec, ApprovalRules } from "../../domain/agent-spec.ts";
import type { Policy, Rule, RuleSource } from "../../domain/policy/policy.ts";
import { digestValue } from "../../platform/digest.ts";

/** The policy of an agent: its own, or what its lists amount to. */
export function resolvePolicy({ policy, approvals }: AgentSpec): Policy {
  if (policy !== undefined) return policy;
  const cached = POLICY_CACHE.get(approvals);
  if (cached !== undefined) return cached;
  const created = createListPolicy(approvals);
  POLICY_CACHE.set(approvals, created);
  return created;
}

/** The same for agents whose policies are the same. */
export function digestRules(agent: AgentSpec | undefined): string {
  return digestValue(agent === undefined ? null : resolvePolicy(agent));
}

/** Rules are compiled once for a policy, so that the same lists have to be the same policy. */
const POLICY_CACHE = new WeakMap<ApprovalRules, Policy>();

/** A log may hold a definition that was never checked: what it does not say is no yes. */
function createListPolicy({
  deny = [],
  ask = [],
  allow = [],
  default: defaultAction,
}: Partial<ApprovalRules>): Policy {
  const rules = [
    ...createListRules("auto_deny", "deny", deny),
    ...createListRules("require_approval", "ask", ask),
    ...createListRules("auto_approve", "allow", allow),
  ];
  const isKnown = defaultAction === "allow" || defaultAction === "deny";
  return { layers: [{ ...PERMISSIVE_LAYER, rules, default: isKnown ? defaultAction : "ask" }] };
}

function createListRules(
  source: RuleSource,
  action: Rule["action"],
  tools: readonly string[],
): Rule[] {
  return tools.map((tool, index) => ({
    source,
    index,
    id: null,
    action,
    match: { tool: [tool] },
    reason: null,
    approvers: action === "ask" ? 1 : 0,
    approval: null,
  }));
}

const PERMISSIVE_LAYER = {
  writePathAllowlist: null,
  sensitivePathPatterns: [],
  allowSensitivePaths: false,
  externalRoots: [],
  allowExternalPaths: false,
  allowUnparsedCommands: true,
  repeatLimit: null,
  repeatAction: "ask",
} as const;
