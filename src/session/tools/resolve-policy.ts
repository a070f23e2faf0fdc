import type { AgentSpec, ApprovalRules } from "../../domain/agent-spec.ts";
import type { Policy, Rule, RuleSource } from "../../domain/policy/policy.ts";
import { digestValue } from "../../platform/digest.ts";

/** Returns the agent's policy, or one derived from its lists. */
export function resolvePolicy({ policy, approvals }: AgentSpec): Policy {
  if (policy !== undefined) return policy;
  const cached = POLICY_CACHE.get(approvals);
  if (cached !== undefined) return cached;
  const created = createListPolicy(approvals);
  POLICY_CACHE.set(approvals, created);
  return created;
}

/** Equal for agents with equal policies. */
export function digestRules(agent: AgentSpec | undefined): string {
  return digestValue(agent === undefined ? null : resolvePolicy(agent));
}

/** Rules are compiled once per policy object, so equal lists must return the same object. */
const POLICY_CACHE = new WeakMap<ApprovalRules, Policy>();

/** A log may contain an unvalidated definition: missing or invalid values never allow. */
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
