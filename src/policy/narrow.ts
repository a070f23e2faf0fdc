import type { MatchedRule, PolicyDecision } from "../domain/policy-decision.ts";
import { MODE_SOURCE, type SessionMode } from "../domain/session-mode.ts";
import { isReadOnly } from "./call-effect.ts";
import { strongest } from "./strictness.ts";

/** What a decision comes to in a session's mode: never to more than it was. */
export function narrow(decision: PolicyDecision, mode: SessionMode): PolicyDecision {
  if (mode === "default" || decision.action === "deny" || isReadOnly(decision.context)) {
    return decision;
  }
  return mode === "ask" ? asked(decision) : refused(decision, mode);
}

/** The mode asks beside the rules, so that nothing that was allowed for good answers it. */
function asked(decision: PolicyDecision): PolicyDecision {
  const { labels, approvers, others = [] } = decision;
  const mode = ruleOf("ask", "ask");
  const narrowed = {
    ...decision,
    action: strongest([decision.action, "ask"]),
    labels: withLabels(labels, "approval_required"),
    approvers: Math.max(1, approvers),
  };
  if (decision.action === "ask") return { ...narrowed, others: [...others, mode] };
  const reason = `The session is in the mode "ask": ${decision.context.tool} does more than read`;
  return { ...narrowed, reason, rule: mode };
}

function refused(decision: PolicyDecision, mode: SessionMode): PolicyDecision {
  const { others: _, approval: __, ...rest } = decision;
  const reason = `The session is in the mode "${mode}", in which only tools that read are run; ${rest.context.tool} does more`;
  return {
    ...rest,
    action: "deny",
    reason,
    rule: ruleOf("deny", mode),
    labels: withLabels(rest.labels.filter((label) => label !== "approval_required")),
    approvers: 0,
  };
}

function ruleOf(action: MatchedRule["action"], mode: SessionMode): MatchedRule {
  return { source: MODE_SOURCE, action, id: mode, index: 0 };
}

function withLabels(labels: readonly string[], ...more: readonly string[]): readonly string[] {
  return [...new Set([...labels, MODE_SOURCE, ...more])].sort();
}

/** Whether the mode is among those who ask. */
export function isAskedByMode({ rule, others = [] }: PolicyDecision): boolean {
  return [rule, ...others].some((one) => one?.source === MODE_SOURCE);
}
