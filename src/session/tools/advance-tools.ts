import type { ToolStarted } from "../../domain/events/tool-events.ts";
import type { PolicyDecision } from "../../domain/policy/policy-decision.ts";
import { digestValue } from "../../platform/digest.ts";
import { hasModeApproval } from "../../policy/apply-mode.ts";
import { readAgentSpec, type Decision } from "../decision.ts";
import { formatGrantScope } from "../approvals/grant-scope.ts";
import { requestApproval } from "../approvals/approval-requests.ts";
import { denyTool, finishTool, formatRerunAction } from "./finish-tool.ts";
import {
  decideRerun,
  recordDecision,
  evaluateRules,
  type DecidedToolCall,
} from "./evaluate-rules.ts";
import { isQuestionCall, requestAnswer } from "./questions.ts";
import { isEvaluable, isInProgress, type ToolRun } from "./tools-state.ts";
import { isWorkerCall, performWorkerCall } from "./worker-calls.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

export interface StartLimits {
  /** Number of further calls the turn may start. Beyond it, no approval is requested either. */
  readonly starts: number;
  /** Number of further calls which may start now. */
  readonly reserved: number;
}

/**
 * Decides all undecided tool calls, and starts allowed ones within `parallelTools`. Returns the number of calls which
 * wait only for a reservation.
 */
export function advanceTools(decision: Decision, limits: StartLimits): number {
  const { runs } = decision.state.tools;
  const { parallelTools } = readAgentSpec(decision).caps;
  let places = parallelTools - runs.filter(isInProgress).length;
  let { starts, reserved } = limits;
  let unreserved = 0;
  for (const run of runs.filter(isEvaluable)) {
    const isNew = run.attempt === 0;
    const hasRoom = places > 0 && (!isNew || starts > 0);
    if (run.status === "approved" && !hasRoom) continue;
    // An approved call is evaluated again when it starts: the rules or grants may have changed.
    if (!mayStartTool(decision, run, !isNew || starts > 0) || !hasRoom) continue;
    places -= 1;
    if (isNew) starts -= 1;
    if (isNew && reserved <= 0) {
      unreserved += 1;
      continue;
    }
    startTool(decision, run);
    if (isNew) reserved -= 1;
    if (!isWorkerCall(decision, run)) continue;
    performWorkerCall(decision, run);
    // A worker reserves tool calls. The limits are computed again before the next call.
    return unreserved;
  }
  return unreserved;
}

/** Refuses, denies or requests approval as the rules decide. Returns true if the tool may start now. */
function mayStartTool(decision: Decision, run: ToolRun, mayRequest: boolean): boolean {
  const ruling = evaluateRules(decision, run);
  switch (ruling.verdict) {
    case "refuse":
      finishTool(decision, run, { ending: "refused", text: ruling.message });
      return false;
    case "resolve-paths":
      return false;
    case "decide":
      return applyRuling(decision, run, ruling, mayRequest);
    default:
      return ruling satisfies never;
  }
}

function applyRuling(
  decision: Decision,
  run: ToolRun,
  evaluated: DecidedToolCall,
  mayRequest: boolean,
): boolean {
  const { action } = evaluated.decision;
  const isQuestion = isQuestionCall(decision, run) && action !== "deny";
  if ((action === "ask" || isQuestion) && !mayRequest) return false;
  // Asking a person needs no approval of its own.
  if (isQuestion) {
    requestAnswer(decision, run, evaluated.decision);
    return false;
  }
  recordDecision(decision, run, evaluated);
  if (action === "ask") requestRun(decision, run, evaluated.decision);
  if (action === "deny") denyTool(decision, run, evaluated.decision);
  return action === "allow";
}

function requestRun(decision: Decision, run: ToolRun, policyDecision: PolicyDecision): void {
  const { toolCallId, name, input, resolvedPaths, attempt } = run;
  const { diffs, evidence } = resolvedPaths ?? {};
  const approvers = Math.max(1, policyDecision.approvers);
  // No `allow-always` if several approvers are required, if the session mode asks (it overrides grants), or for a
  // second attempt.
  const isForGood = approvers === 1 && !hasModeApproval(policyDecision) && attempt === 0;
  const always = isForGood ? (["allow-always"] as const) : [];
  requestApproval(decision, {
    question: "run",
    options: ["allow", ...always, "deny"],
    subjectId: toolCallId,
    action: attempt === 0 ? name : formatRerunAction(run),
    input,
    approvers,
    ...(attempt > 0 && { attempt: attempt + 1 }),
    ...(isForGood && { grantLabel: formatGrantScope(policyDecision) }),
    decision: policyDecision,
    ...omitUndefined({ diffs, evidence }),
  });
}

/**
 * Requests a decision about a tool which was running when the bridge was killed. The tool may have taken effect, so
 * neither rules nor grants run it again.
 */
export function requestOutcome(decision: Decision, run: ToolRun): void {
  const { toolCallId, input, attempt } = run;
  const policyDecision = decideRerun(decision, run);
  const { approvers } = policyDecision;
  requestApproval(decision, {
    question: "outcome",
    options: ["run-again", "deny", "done", "failed"],
    subjectId: toolCallId,
    action: formatRerunAction(run),
    input,
    approvers,
    attempt: attempt + 1,
    decision: policyDecision,
  });
}

export function startTool(
  decision: Decision,
  { toolCallId, attempt, approvalId, input }: ToolRun,
  repeatField: Pick<ToolStarted, "isRepeat"> = {},
): void {
  decision.emit({
    type: "tool.started",
    toolCallId,
    attempt: attempt + 1,
    digest: digestValue(input ?? {}),
    ...omitUndefined({ approvalId }),
    ...repeatField,
  });
}
