import type { Actor } from "../domain/actor.ts";
import {
  APPROVING_DECISIONS,
  DENYING_DECISIONS,
  isCounted,
  type ApprovalDecision,
} from "../domain/policy/approval-decision.ts";
import { findAnswerProblem, formatAnswer } from "../domain/question.ts";
import type { CommandReply, SessionCommand } from "../domain/session-command.ts";
import { digestValue } from "../platform/digest.ts";
import { addGrant } from "./approvals/grants.ts";
import { resolveByPerson, emitVote } from "./approvals/approval-requests.ts";
import { refuse } from "./refuse-command.ts";
import {
  finishTool,
  formatNotRun,
  formatUnknownOutcome,
  formatLossTime,
} from "./tools/finish-tool.ts";
import { queueDenial } from "./steering/runtime-reminders.ts";
import { finishAnswered } from "./tools/questions.ts";
import { findRun } from "./tools/tools-state.ts";
import type { Decision } from "./decision.ts";
import type { PendingApproval } from "./approvals/approvals-state.ts";
import { omitUndefined } from "../data/omit-undefined.ts";

type DecideCommand = Extract<SessionCommand, { readonly type: "decide-approval" }>;

/** A command whose decision is known. */
type DecideApproval = DecideCommand & { readonly decision: ApprovalDecision };

export function decideApproval(
  decision: Decision,
  received: DecideCommand,
  by: Actor,
): CommandReply {
  const { approvalId } = received;
  const request = decision.state.approvals.pending.find(
    (pending) => pending.approvalId === approvalId,
  );
  if (request === undefined || request.deadline <= decision.at) {
    return refuse(
      "conflict",
      "This approval is not open: it was decided, its deadline has passed, or its turn has ended",
    );
  }
  if (request.worker !== undefined) {
    const { sessionId: decidingSessionId } = request.worker;
    const message = `The session ${decidingSessionId} of the worker decides this request`;
    return refuse("conflict", message, { decidingSessionId });
  }
  const approvalDecision = resolveDecision(request, received);
  if (approvalDecision === undefined || !request.options.includes(approvalDecision)) {
    const validOptions = request.options.join(", ");
    const name = approvalDecision ?? formatAnswer(received.answer ?? null);
    return refuse(
      "invalid_option",
      `"${name.slice(0, 100)}" is not a decision for this request: expected ${validOptions}`,
    );
  }
  const command = { ...received, decision: approvalDecision };
  const problem = findProblem(request, command);
  if (problem !== undefined) return refuse("invalid_option", problem, { path: "answer" });
  if (!isCounted(approvalDecision) || request.approvers <= 1)
    return resolveApproval(decision, request, command, []);
  if (by.principal === undefined)
    return refuse(
      "access_denied",
      "The sender has no principal: several approvals need to tell people apart",
    );
  return recordVote(decision, request, command, by.principal);
}

/** Resolves a plain yes or no, and an answer which names a decision. */
function resolveDecision(
  { question, form, options }: PendingApproval,
  { decision, approved, answer }: DecideCommand,
): ApprovalDecision | undefined {
  if (decision !== undefined) return decision;
  // To an approval, the answers true and false are a plain yes and no.
  const isPlain = form !== undefined && form.kind !== "question" && typeof answer === "boolean";
  const yes = approved ?? (isPlain ? answer : undefined);
  if (yes !== undefined) return yes ? APPROVING_DECISIONS[question] : DENYING_DECISIONS[question];
  if (question === "question") return answer === undefined ? undefined : "answer";
  return options.find((option) => option === answer);
}

/** Returns why the answer to a question is not valid. Undefined for other requests. */
function findProblem(
  { form }: PendingApproval,
  { decision, answer }: DecideApproval,
): string | undefined {
  if (form === undefined || decision !== "answer") return undefined;
  if (form.kind === "question" && answer === undefined)
    return "The question needs an answer, and the response has none";
  const problem = findAnswerProblem(form, answer ?? true);
  return problem === undefined ? undefined : `The answer is not valid: ${problem}`;
}

/**
 * Records an approval or answer. Each principal counts once, and only together with principals who approved the same
 * arguments or gave the same answer.
 */
function recordVote(
  decision: Decision,
  request: PendingApproval,
  command: DecideApproval,
  principal: string,
): CommandReply {
  const { approvalId, approvers, votes } = request;
  const { decision: approvalDecision, reason, input, answer } = command;
  const digest = digestValue(
    request.form === undefined
      ? (input ?? findRun(decision.state.tools, request.subjectId)?.input ?? {})
      : (answer ?? true),
  );
  const agreed = votes
    .filter((earlierVote) => earlierVote.digest === digest)
    .map((earlierVote) => earlierVote.principal);
  if (agreed.includes(principal)) {
    const message = `You have already decided this: it needs ${approvers} different people`;
    return refuse("conflict", message);
  }
  if (agreed.length + 1 >= approvers)
    return resolveApproval(decision, request, command, [...agreed, principal]);
  emitVote(decision, {
    approvalId,
    principal,
    decision: approvalDecision,
    digest,
    ...omitUndefined({ input, answer, reason }),
  });
  return { status: "accepted" };
}

function resolveApproval(
  decision: Decision,
  request: PendingApproval,
  command: DecideApproval,
  principals: readonly string[],
): CommandReply {
  const { decision: approvalDecision, reason, input, answer, reviewer } = command;
  const isAnswered = request.form !== undefined && approvalDecision === "answer";
  const resolution = {
    decision: approvalDecision,
    ...omitUndefined({ reason, reviewer }),
    ...(isAnswered ? { answer: answer ?? true } : omitUndefined({ input })),
    ...(principals.length > 0 && { principals }),
  };
  resolveByPerson(decision, request, resolution);
  if (request.question === "question") {
    finishAnswered(decision, request, resolution);
    return { status: "accepted" };
  }
  // No rule has evaluated edited arguments yet, so they never add a grant.
  if (approvalDecision === "allow-always" && input === undefined) addGrant(decision, request);
  closeDecidedTool(decision, request, command);
  return { status: "accepted" };
}

/** Finishes the tool call if the decision does not let it run. */
function closeDecidedTool(
  decision: Decision,
  { subjectId, question }: PendingApproval,
  { decision: approvalDecision, reason }: DecideApproval,
): void {
  const run = findRun(decision.state.tools, subjectId);
  if (run === undefined) return;
  const why = reason === undefined ? "" : ` The reason given: ${reason}`;
  if (approvalDecision === "deny" && question === "outcome") {
    finishTool(decision, run, { ending: "unknown", text: `${formatUnknownOutcome(run)}${why}` });
  } else if (approvalDecision === "deny") {
    const text = `${formatNotRun(run)}: it was denied.${why}`;
    finishTool(decision, run, { ending: "denied", text });
    queueDenial(decision, { name: run.name, reason });
  } else if (approvalDecision === "done") {
    const text = `${run.name} did its work; its output was lost ${formatLossTime(run)}.${why}`;
    finishTool(decision, run, { ending: "succeeded", text });
  } else if (approvalDecision === "failed") {
    const text = `${run.name} failed ${formatLossTime(run)}.${why}`;
    finishTool(decision, run, { ending: "failed", text });
  }
}
