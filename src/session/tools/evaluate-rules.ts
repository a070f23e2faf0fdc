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

/** What the rules say, with what people have said to that. */
export type ToolCallRuling = Exclude<ToolCallEvaluation, EvaluatedToolCall> | DecidedToolCall;

export interface DecidedToolCall extends EvaluatedToolCall {
  /** Those who were asked said yes. */
  readonly isApproved: boolean;
  /** What somebody allowed for good, where that answers the question. */
  readonly grantId?: string;
}

/** What is to become of a call, by the rules and the mode that hold now. What they deny, nobody can allow. */
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
    const allowed = toAllowDecision(policyDecision, "An approver said yes to these arguments");
    return { ...evaluated, decision: allowed, isApproved: true };
  }
  // A grant is for calls that have not run.
  const grant = mayHaveRun
    ? undefined
    : findGrant(decision.state.approvals, policyDecision, digest);
  if (grant === undefined) return { ...evaluated, isApproved: false };
  const allowed = toAllowDecision(policyDecision, "It was allowed for good");
  return { ...evaluated, decision: allowed, isApproved: false, grantId: grant.grantId };
}

/** Why people are asked whether a tool runs again, by the rules and the mode that hold now. */
export function decideRerun(decision: Decision, run: ToolRun): PolicyDecision {
  const agent = readAgentSpec(decision);
  const evaluation = evaluateToolCall(run, agent, decision.state.tools);
  const policyDecision =
    evaluation.verdict === "decide"
      ? evaluation.decision
      : createAllowDecision(createFallbackContext(run, agent));
  return toRerunRequest(applyMode(policyDecision, decision.state.mode), run);
}

/** A tool that is not idempotent, and was started before, may have had its effect. */
function isRerun(decision: Decision, { attempt, name }: ToolRun): boolean {
  if (attempt === 0) return false;
  return readAgentSpec(decision).tools.find((tool) => tool.name === name)?.idempotent !== true;
}

/** A rule that allows or denies does not ask, so the request names none. */
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

/** Whether people were shown what is still to be asked, in every part. */
export function isRequestCurrent(decision: Decision, run: ToolRun): boolean {
  if (run.shownRequest?.toolDigest !== digestTool(readAgentSpec(decision), run.name)) return false;
  const ruling = evaluateRules(decision, run);
  return (
    ruling.verdict === "decide" && digestValue(ruling.decision) === run.shownRequest.decisionDigest
  );
}

/** The rules may be others than when it was started. What they now deny, or want asked anew, is no longer allowed. */
export function isStillAllowed(decision: Decision, run: ToolRun): boolean {
  const ruling = evaluateRules(decision, run);
  if (ruling.verdict !== "decide" || ruling.decision.action !== "allow") return false;
  recordDecision(decision, run, ruling);
  return true;
}

/** Writes the receipt, unless the log has it already. */
export function recordDecision(
  decision: Decision,
  { toolCallId, evaluation }: ToolRun,
  evaluated: DecidedToolCall,
): void {
  const { decision: policyDecision, digest, isApproved, grantId } = evaluated;
  const agent = decision.state.agent?.digest ?? "";
  const { mode } = decision.state;
  if (evaluation?.agent === agent && evaluation.mode === mode && evaluation.digest === digest) {
    // A question that was asked, and answered with yes, is as good as a receipt that allows.
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
 * Those who said yes said it to this very tool and these very arguments, and were as many as the rules now want. Other
 * rules than held then have to ask just what was asked, in every part.
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
