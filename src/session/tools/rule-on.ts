import type { PolicyContext, PolicyDecision } from "../../domain/policy-decision.ts";
import { digestOf } from "../../platform/digest.ts";
import { grantFor } from "../approvals/grants.ts";
import { narrow } from "../../policy/narrow.ts";
import { agentOf, type Work } from "../work.ts";
import { whenLost } from "./finish-tool.ts";
import { contextOfCall, judgeCall, type Judgement } from "./judge-call.ts";
import { rulesDigest } from "./policy-of.ts";
import { toolDigest } from "./tool-digest.ts";
import type { ToolRun } from "./tools-state.ts";

type Judged = Extract<Judgement, { readonly verdict: "decide" }>;

/** What the rules say, with what people have said to that. */
export type Ruling = Exclude<Judgement, Judged> | Ruled;

export interface Ruled extends Judged {
  /** Those who were asked said yes. */
  readonly isApproved: boolean;
  /** What somebody allowed for good, where that answers the question. */
  readonly grantId?: string;
}

/** What is to become of a call, by the rules and the mode that hold now. What they deny, nobody can allow. */
export function ruleOn(work: Work, run: ToolRun): Ruling {
  const call = judgeCall(run, agentOf(work), work.state.tools);
  if (call.verdict !== "decide") return call;
  const narrowed = narrow(call.decision, work.state.mode);
  const mayHaveRun = isRerun(work, run);
  const isAskedAgain = mayHaveRun && narrowed.action !== "deny";
  const judged = { ...call, decision: isAskedAgain ? askAgain(narrowed, run) : narrowed };
  const { decision, digest } = judged;
  if (decision.action !== "ask") return { ...judged, isApproved: false };
  if (isEnough(work, run, judged)) {
    const allowed = allow(decision, "An approver said yes to these arguments");
    return { ...judged, decision: allowed, isApproved: true };
  }
  // A grant is for calls that have not run.
  const grant = mayHaveRun ? undefined : grantFor(work.state.approvals, decision, digest);
  if (grant === undefined) return { ...judged, isApproved: false };
  const allowed = allow(decision, "It was allowed for good");
  return { ...judged, decision: allowed, isApproved: false, grantId: grant.grantId };
}

/** Why people are asked whether a tool runs again, by the rules and the mode that hold now. */
export function decideRerun(work: Work, run: ToolRun): PolicyDecision {
  const agent = agentOf(work);
  const call = judgeCall(run, agent, work.state.tools);
  const decision =
    call.verdict === "decide" ? call.decision : withoutRules(contextOfCall(run, agent));
  return askAgain(narrow(decision, work.state.mode), run);
}

/** A tool that is not idempotent, and was started before, may have had its effect. */
function isRerun(work: Work, { attempt, name }: ToolRun): boolean {
  if (attempt === 0) return false;
  return agentOf(work).tools.find((tool) => tool.name === name)?.idempotent !== true;
}

/** A rule that allows or denies does not ask, so the request names none. */
function askAgain(decision: PolicyDecision, run: ToolRun): PolicyDecision {
  const { action, reason, labels, approvers, context } = decision;
  const why = `${run.name} was running ${whenLost(run)}. It may already have run; allowing runs it again.`;
  return {
    ...(action === "ask" ? decision : { context, rule: null }),
    action: "ask",
    reason: action === "allow" ? why : `${why} ${reason}`,
    labels: [...new Set([...labels, "approval_required", "may_have_run"])].sort(),
    approvers: Math.max(1, approvers),
  };
}

/** Whether people were shown what is still to be asked, in every part. */
export function isStillAsked(work: Work, run: ToolRun): boolean {
  if (run.asked?.tool !== toolDigest(agentOf(work), run.name)) return false;
  const ruling = ruleOn(work, run);
  return ruling.verdict === "decide" && digestOf(ruling.decision) === run.asked.decision;
}

/** The rules may be others than when it was started. What they now deny, or want asked anew, is no longer allowed. */
export function isStillAllowed(work: Work, run: ToolRun): boolean {
  const ruling = ruleOn(work, run);
  if (ruling.verdict !== "decide" || ruling.decision.action !== "allow") return false;
  record(work, run, ruling);
  return true;
}

/** Writes the receipt, unless the log has it already. */
export function record(work: Work, { toolCallId, judged }: ToolRun, ruled: Ruled): void {
  const { decision, digest, isApproved, grantId } = ruled;
  const agent = work.state.agent?.digest ?? "";
  const { mode } = work.state;
  if (judged?.agent === agent && judged.mode === mode && judged.digest === digest) {
    // A question that was asked, and answered with yes, is as good as a receipt that allows.
    if (judged.action === decision.action || (isApproved && judged.action === "ask")) return;
  }
  const granted = grantId === undefined ? {} : { grantId };
  const narrowed = mode === "default" ? {} : { mode };
  const judgement = { toolCallId, digest, agent, ...narrowed, decision, ...granted };
  work.emit({ type: "policy.decided", ...judgement });
}

/**
 * Those who said yes said it to this very tool and these very arguments, and were as many as the rules now want. Other
 * rules than held then have to ask just what was asked, in every part.
 */
function isEnough(work: Work, { approved, name }: ToolRun, { decision, digest }: Judged): boolean {
  if (approved?.digest !== digest || approved.approvers < decision.approvers) return false;
  const agent = agentOf(work);
  if (approved.tool !== toolDigest(agent, name)) return false;
  return approved.rules === rulesDigest(agent) || approved.decision === digestOf(decision);
}

function withoutRules(context: PolicyContext): PolicyDecision {
  return { action: "allow", reason: "", rule: null, labels: [], context, approvers: 0 };
}

function allow(decision: PolicyDecision, reason: string): PolicyDecision {
  return { ...decision, action: "allow", reason, approvers: 0 };
}
