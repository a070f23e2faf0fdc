import { toJsonText } from "../../data/json.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";
import type { ApprovalResolved } from "../../domain/events/approval-events.ts";
import type { PolicyDecision } from "../../domain/policy/policy-decision.ts";
import { ASK_USER_TOOL, formatAnswer, readQuestion, type Question } from "../../domain/question.ts";
import { NO_DEADLINE, requestApproval } from "../approvals/approval-requests.ts";
import type { PendingApproval } from "../approvals/approvals-state.ts";
import { readAgentSpec, type Decision } from "../decision.ts";
import { finishTool } from "./finish-tool.ts";
import { findRun, type ToolRun } from "./tools-state.ts";

/** Whether a tool call asks a person. The session itself performs such a call, with an approval request. */
export function isQuestionCall(decision: Decision, { name }: ToolRun): boolean {
  return name === ASK_USER_TOOL && readAgentSpec(decision).askUser !== undefined;
}

/** Whether a person is being asked on behalf of this tool call. */
export function isWaitingForAnswer({ state }: Decision, { approvalId }: ToolRun): boolean {
  return state.approvals.pending.some(
    (request) => request.approvalId === approvalId && request.question === "question",
  );
}

/** Requests an answer, or finishes the call if its arguments are not a valid question. */
export function requestAnswer(
  decision: Decision,
  run: ToolRun,
  policyDecision: PolicyDecision,
): void {
  const { toolCallId, input } = run;
  const request = readQuestion(input ?? {});
  if (typeof request === "string") {
    const text = `The question was not asked: ${request}. Call ${run.name} again with valid arguments.`;
    return finishTool(decision, run, { ending: "refused", text });
  }
  const { question: form, approvers } = request;
  requestApproval(decision, {
    question: "question",
    // An escalation waits until a person accepts.
    options: form.kind === "escalation" ? ["answer"] : ["answer", "decline"],
    subjectId: toolCallId,
    action: form.text,
    input,
    approvers,
    form,
    waitMs: resolveWait(decision, form, request.waitMs),
    decision: toQuestionDecision(policyDecision, approvers),
  });
}

function resolveWait(decision: Decision, { kind }: Question, requestedMs: number | undefined) {
  if (kind === "escalation") return NO_DEADLINE;
  const { waitMs = 0 } = readAgentSpec(decision).askUser ?? {};
  return Math.min(requestedMs ?? waitMs, waitMs);
}

/** The policy decision shown with a question. A rule which allows does not ask, so the request names no rule. */
function toQuestionDecision(decision: PolicyDecision, approvers: number): PolicyDecision {
  const { action, context, labels } = decision;
  return {
    ...(action === "ask" ? decision : { context, rule: null }),
    action: "ask",
    reason: "The agent asks a person.",
    labels: [...new Set([...labels, "question"])].sort(),
    approvers,
  };
}

type Answer = Pick<ApprovalResolved, "answer" | "decision" | "reason" | "principals">;

/** Finishes the tool call of a question with a person's answer. */
export function finishAnswered(
  decision: Decision,
  { subjectId, form }: PendingApproval,
  { answer = true, decision: answered, reason, principals: reviewers }: Answer,
): void {
  const run = findRun(decision.state.tools, subjectId);
  if (run === undefined || form === undefined) return;
  if (answered !== "answer") {
    const why = reason === undefined ? "" : ` The reason given: ${reason}`;
    const text = `${form.kind === "question" ? "The person declined to answer" : "Not approved"}.${why}`;
    return finishTool(decision, run, { ending: "denied", text });
  }
  const text = formatResult(form, answer, omitUndefined({ reason, reviewers }));
  finishTool(decision, run, { ending: "succeeded", text });
}

function formatResult(
  { kind }: Question,
  answer: NonNullable<Answer["answer"]> | null,
  review: { readonly reason?: string; readonly reviewers?: readonly string[] },
): string {
  if (kind === "question") return formatAnswer(answer);
  return toJsonText({ [kind === "escalation" ? "accepted" : "approved"]: true, ...review });
}

/** Finishes the tool call of a question without an answer at its deadline. */
export function finishUnanswered(decision: Decision, { subjectId, form }: PendingApproval): void {
  const run = findRun(decision.state.tools, subjectId);
  if (run === undefined) return;
  if (form?.default === undefined) {
    const text = "No answer arrived in time. Continue without the answer, or end your turn.";
    return finishTool(decision, run, { ending: "timed-out", text });
  }
  const text = `No answer arrived in time. The default answer applies: ${formatAnswer(form.default)}`;
  finishTool(decision, run, { ending: "succeeded", text });
}
