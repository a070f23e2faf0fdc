import type { PolicyContext, PolicyDecision } from "../../domain/policy/policy-decision.ts";
import { digestValue } from "../../platform/digest.ts";
import { findGrant } from "../approvals/grants.ts";
import { applyMode } from "../../policy/apply-mode.ts";
import { readAgentSpec, type Decision } from "../decision.ts";
import { formatLossTime } from "./finish-tool.ts";
import {
  createFallbackContext,
  evaluateToolCall,
  type ToolCallEvaluation,
} from "./evaluate-tool-call.ts";
import { digestRules } from "./resolve-policy.ts";
import { digestTool } from "./tool-digest.ts";
import type { ToolRun } from "./tools-state.ts";

type EvaluatedToolCall = Extract<ToolCallEvaluation, { readonly verdict: "decide" }>;

/** The decision about a tool call: the rules, combined with approvals and grants. */
export type ToolCallRuling = Exclude<ToolCallEvaluation, EvaluatedToolCall> | DecidedToolCall;

export interface DecidedToolCall extends EvaluatedToolCall {
  /** The required approvers approved. */
  readonly isApproved: boolean;
  /** The grant which replaces an approval. Absent if none does. */
  readonly grantId?: string;
}

/** Evaluates a tool call with the current rules and mode. No approval or grant overrides a denial. */
export function evaluateRules(decision: Decision, run: ToolRun): ToolCallRuling {
  const evaluation = evaluateToolCall(run, readAgentSpec(decision), decision.state.tools);
  if (evaluation.verdict !== "decide") return evaluation;
  const narrowed = applyMode(evaluation.decision, decision.state.mode);
  const mayHaveRun = isRerun(decision, run);
  const needsNewRequest = mayHaveRun && narrowed.action !== "deny";
  const evaluated = {
    ...evaluation,
    decision: needsNewRequest ? toRerunRequest(narrowed, run) : narrowed,
  };
  const { decision: policyDecision, digest } = evaluated;
  if (policyDecision.action !== "ask") return { ...evaluated, isApproved: false };
  if (hasEnoughApprovals(decision, run, evaluated)) {
    const allowed = toAllowDecision(policyDecision, "An approver approved these arguments");
    return { ...evaluated, decision: allowed, isApproved: true };
  }
  // Grants apply only to calls which have not run.
  const grant = mayHaveRun
    ? undefined
    : findGrant(decision.state.approvals, policyDecision, digest);
  if (grant === undefined) return { ...evaluated, isApproved: false };
  const allowed = toAllowDecision(policyDecision, "A permanent grant allows it");
  return { ...evaluated, decision: allowed, isApproved: false, grantId: grant.grantId };
}

/** Returns the decision shown when asking whether to run a tool again, by the current rules and mode. */
export function decideRerun(decision: Decision, run: ToolRun): PolicyDecision {
  const agent = readAgentSpec(decision);
  const evaluation = evaluateToolCall(run, agent, decision.state.tools);
  const policyDecision =
    evaluation.verdict === "decide"
      ? evaluation.decision
      : createAllowDecision(createFallbackContext(run, agent));
  return toRerunRequest(applyMode(policyDecision, decision.state.mode), run);
}

/** Whether a tool may already have taken effect: it was started before and is not idempotent. */
function isRerun(decision: Decision, { attempt, name }: ToolRun): boolean {
  if (attempt === 0) return false;
  return readAgentSpec(decision).tools.find((tool) => tool.name === name)?.idempotent !== true;
}

/**
 * Turns a decision into a request to run a tool again. A rule which allows or denies does not ask, so the request names
 * no rule.
 */
function toRerunRequest(decision: PolicyDecision, run: ToolRun): PolicyDecision {
  const { action, reason, labels, approvers, context } = decision;
  const why = `${run.name} was running ${formatLossTime(run)}. It may already have run; allowing runs it again.`;
  return {
    ...(action === "ask" ? decision : { context, rule: null }),
    action: "ask",
    reason: action === "allow" ? why : `${why} ${reason}`,
    labels: [...new Set([...labels, "approval_required", "may_have_run"])].sort(),
    approvers: Math.max(1, approvers),
  };
}

/** Whether an open request still matches the current decision in every part. */
export function isRequestCurrent(decision: Decision, run: ToolRun): boolean {
  if (run.shownRequest?.toolDigest !== digestTool(readAgentSpec(decision), run.name)) return false;
  const ruling = evaluateRules(decision, run);
  return (
    ruling.verdict === "decide" && digestValue(ruling.decision) === run.shownRequest.decisionDigest
  );
}

/** Whether a started tool is still allowed under the current rules. Records the decision if so. */
export function isStillAllowed(decision: Decision, run: ToolRun): boolean {
  const ruling = evaluateRules(decision, run);
  if (ruling.verdict !== "decide" || ruling.decision.action !== "allow") return false;
  recordDecision(decision, run, ruling);
  return true;
}

/** Records the decision as a receipt, unless the log already has it. */
export function recordDecision(
  decision: Decision,
  { toolCallId, name, evaluation }: ToolRun,
  evaluated: DecidedToolCall,
): void {
  const { decision: policyDecision, digest, isApproved, grantId } = evaluated;
  const agent = decision.state.agent?.digest ?? "";
  const { mode } = decision.state;
  const isSameCall = evaluation?.tool === name && evaluation.digest === digest;
  if (isSameCall && evaluation.agent === agent && evaluation.mode === mode) {
    // An approved request counts as a receipt which allows the call.
    if (evaluation.action === policyDecision.action || (isApproved && evaluation.action === "ask"))
      return;
  }
  const granted = grantId === undefined ? {} : { grantId };
  const narrowed = mode === "default" ? {} : { mode };
  const judgement = {
    toolCallId,
    digest,
    agent,
    ...narrowed,
    decision: policyDecision,
    ...granted,
  };
  decision.emit({ type: "policy.decided", ...judgement });
}

/**
 * Whether a call has enough valid approvals: for the same tool and arguments, by as many principals as the rules now
 * require. If the rules have changed since, they must lead to exactly the decision shown.
 */
function hasEnoughApprovals(
  decision: Decision,
  { approval, name }: ToolRun,
  { decision: policyDecision, digest }: EvaluatedToolCall,
): boolean {
  if (approval?.digest !== digest || approval.approvers < policyDecision.approvers) return false;
  const agent = readAgentSpec(decision);
  if (approval.toolDigest !== digestTool(agent, name)) return false;
  return (
    approval.rulesDigest === digestRules(agent) ||
    approval.decisionDigest === digestValue(policyDecision)
  );
}

function createAllowDecision(context: PolicyContext): PolicyDecision {
  return { action: "allow", reason: "", rule: null, labels: [], context, approvers: 0 };
}

function toAllowDecision(decision: PolicyDecision, reason: string): PolicyDecision {
  return { ...decision, action: "allow", reason, approvers: 0 };
}
