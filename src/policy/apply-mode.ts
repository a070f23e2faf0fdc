import type { MatchedRule, PolicyDecision } from "../domain/policy/policy-decision.ts";
import { MODE_SOURCE, type SessionMode } from "../domain/session-mode.ts";
import { isReadOnly } from "./facts/tool-call-effect.ts";
import { findStrictest } from "./strictest-action.ts";

/** Restricts a decision by the session mode. The result is never less strict than the decision. */
export function applyMode(decision: PolicyDecision, mode: SessionMode): PolicyDecision {
  if (mode === "default" || decision.action === "deny" || isReadOnly(decision.context)) {
    return decision;
  }
  return mode === "ask" ? toAskDecision(decision) : toDenyDecision(decision, mode);
}

/** Adds the mode as a separate asking rule, so that grants for the policy's rules do not answer for the mode. */
function toAskDecision(decision: PolicyDecision): PolicyDecision {
  const { labels, approvers, otherRules = [] } = decision;
  const mode = createModeRule("ask", "ask");
  const narrowed = {
    ...decision,
    action: findStrictest([decision.action, "ask"]),
    labels: addLabels(labels, "approval_required"),
    approvers: Math.max(1, approvers),
  };
  if (decision.action === "ask") return { ...narrowed, otherRules: [...otherRules, mode] };
  const reason = `The session is in the mode "ask": ${decision.context.tool} does more than read`;
  return { ...narrowed, reason, rule: mode };
}

function toDenyDecision(decision: PolicyDecision, mode: SessionMode): PolicyDecision {
  const { otherRules: _, approval: __, ...rest } = decision;
  const reason = `The session is in the mode "${mode}", which runs only read-only tools; ${rest.context.tool} does more than read`;
  return {
    ...rest,
    action: "deny",
    reason,
    rule: createModeRule("deny", mode),
    labels: addLabels(rest.labels.filter((label) => label !== "approval_required")),
    approvers: 0,
  };
}

function createModeRule(action: MatchedRule["action"], mode: SessionMode): MatchedRule {
  return { source: MODE_SOURCE, action, id: mode, index: 0 };
}

function addLabels(
  labels: readonly string[],
  ...extraLabels: readonly string[]
): readonly string[] {
  return [...new Set([...labels, MODE_SOURCE, ...extraLabels])].sort();
}

/** Whether the session mode is among the rules that ask. */
export function hasModeApproval({ rule, otherRules: others = [] }: PolicyDecision): boolean {
  return [rule, ...others].some((matchedRule) => matchedRule?.source === MODE_SOURCE);
}
