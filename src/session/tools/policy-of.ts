import type { AgentFacts, ApprovalLists } from "../../domain/agent-event.ts";
import type { Policy, Rule, RuleSource } from "../../domain/policy.ts";
import { digestOf } from "../../platform/digest.ts";

/** The policy of an agent: its own, or what its lists amount to. */
export function policyOf({ policy, approvals }: AgentFacts): Policy {
  if (policy !== undefined) return policy;
  const known = OF_LISTS.get(approvals);
  if (known !== undefined) return known;
  const made = ofLists(approvals);
  OF_LISTS.set(approvals, made);
  return made;
}

/** The same for agents whose policies are the same. */
export function rulesDigest(agent: AgentFacts | undefined): string {
  return digestOf(agent === undefined ? null : policyOf(agent));
}

/** Rules are compiled once for a policy, so that the same lists have to be the same policy. */
const OF_LISTS = new WeakMap<ApprovalLists, Policy>();

/** A log may hold a definition that was never checked: what it does not say is no yes. */
function ofLists({ deny = [], ask = [], allow = [], otherwise }: Partial<ApprovalLists>): Policy {
  const rules = [
    ...rulesOf("auto_deny", "deny", deny),
    ...rulesOf("require_approval", "ask", ask),
    ...rulesOf("auto_approve", "allow", allow),
  ];
  const isKnown = otherwise === "allow" || otherwise === "deny";
  return { layers: [{ ...OPEN, rules, default: isKnown ? otherwise : "ask" }] };
}

function rulesOf(source: RuleSource, action: Rule["action"], tools: readonly string[]): Rule[] {
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

const OPEN = {
  writePathAllowlist: null,
  sensitivePathPatterns: [],
  allowSensitivePaths: false,
  externalRoots: [],
  allowExternalPaths: false,
  allowUnparsedCommands: true,
  repeatLimit: null,
  repeatAction: "ask",
} as const;
