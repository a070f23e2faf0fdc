import type { Actor } from "../domain/actor.ts";
import { isApproving } from "../domain/policy/approval-decision.ts";
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
import { findRun } from "./tools/tools-state.ts";
import type { Decision } from "./decision.ts";
import type { PendingApproval } from "./approvals/approvals-state.ts";
import { omitUndefined } from "../data/omit-undefined.ts";

type DecideApproval = Extract<SessionCommand, { readonly type: "decide-approval" }>;

export function decideApproval(
  decision: Decision,
  command: DecideApproval,
  by: Actor,
): CommandReply {
  const { approvalId, decision: approvalDecision } = command;
  const request = decision.state.approvals.pending.find(
    (pending) => pending.approvalId === approvalId,
  );
  if (request === undefined || request.deadline <= decision.at) {
    return refuse(
      "conflict",
      "This approval is not open: it was decided, its deadline has passed, or its turn has ended",
    );
  }
  if (!request.options.includes(approvalDecision)) {
    const validOptions = request.options.join(", ");
    return refuse(
      "invalid_option",
      `"${approvalDecision}" is not a decision for this request: expected ${validOptions}`,
    );
  }
  if (!isApproving(approvalDecision) || request.approvers <= 1)
    return resolveApproval(decision, request, command, []);
  if (by.principal === undefined)
    return refuse(
      "access_denied",
      "The sender has no principal: several approvals need to tell people apart",
    );
  return recordVote(decision, request, command, by.principal);
}

/**
 * Records an approval. Each principal counts once, and only together with principals who approved the same arguments.
 */
function recordVote(
  decision: Decision,
  request: PendingApproval,
  command: DecideApproval,
  principal: string,
): CommandReply {
  const { approvalId, approvers, votes } = request;
  const { decision: approvalDecision, reason, input } = command;
  const digest = digestValue(
    input ?? findRun(decision.state.tools, request.subjectId)?.input ?? {},
  );
  const agreed = votes
    .filter((earlierVote) => earlierVote.digest === digest)
    .map((earlierVote) => earlierVote.principal);
  if (agreed.includes(principal)) {
    const message = `You have already approved this: it needs ${approvers} different people`;
    return refuse("conflict", message);
  }
  if (agreed.length + 1 >= approvers)
    return resolveApproval(decision, request, command, [...agreed, principal]);
  const why = reason === undefined ? {} : { reason };
  const editedInput = input === undefined ? {} : { input };
  emitVote(decision, {
    approvalId,
    principal,
    decision: approvalDecision,
    digest,
    ...editedInput,
    ...why,
  });
  return { status: "accepted" };
}

function resolveApproval(
  decision: Decision,
  request: PendingApproval,
  command: DecideApproval,
  principals: readonly string[],
): CommandReply {
  const { decision: approvalDecision, reason, input } = command;
  resolveByPerson(decision, request, {
    decision: approvalDecision,
    ...omitUndefined({ reason, input }),
    ...(principals.length > 0 && { principals }),
  });
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
  } else if (approvalDecision === "done") {
    const text = `${run.name} did its work; its output was lost ${formatLossTime(run)}.${why}`;
    finishTool(decision, run, { ending: "succeeded", text });
  } else if (approvalDecision === "failed") {
    const text = `${run.name} failed ${formatLossTime(run)}.${why}`;
    finishTool(decision, run, { ending: "failed", text });
  }
}
