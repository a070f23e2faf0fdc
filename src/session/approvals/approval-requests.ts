import type {
  ApprovalRequested,
  ApprovalResolved,
  ApprovalVoted,
} from "../../domain/events/approval-events.ts";
import { listLiveClients } from "../../domain/live-client.ts";
import { DENYING_DECISIONS } from "../../domain/policy/approval-decision.ts";
import { readAgentSpec, type Decision } from "../decision.ts";
import type { PendingApproval } from "./approvals-state.ts";

type ApprovalRequestInput = Omit<ApprovalRequested, "type" | "approvalId" | "deadline">;

/** Asks the approver, who has so long to answer as the agent's definition says, or the prompt where nobody else is there. */
export function requestApproval(decision: Decision, request: ApprovalRequestInput): void {
  const approvalId = decision.ids.next("appr");
  const deadline =
    decision.at + (resolvePromptApprovalMs(decision) ?? readAgentSpec(decision).approvalMs);
  decision.emit({
    type: "approval.requested",
    approvalId,
    ...request,
    deadline,
    ...resolveRoute(decision),
  });
}

function resolveRoute({ state }: Decision): Pick<ApprovalRequested, "routedTo"> {
  const controller = listLiveClients(state.clients).find(({ role }) => role === "controller");
  if (controller === undefined) return {};
  const { clientId, metadata } = controller;
  return { routedTo: { clientId, metadata } };
}

/** Records that the open requests are sent to the controller that there is now, if it is not the one from before. */
export function routeAgain(work: Decision, before: string | null): void {
  const { routedTo } = resolveRoute(work);
  if (routedTo === undefined || routedTo.clientId === before) return;
  for (const { approvalId } of work.state.approvals.pending) {
    work.emit({ type: "approval.routed", approvalId, routedTo });
  }
}

function resolvePromptApprovalMs({ state }: Decision): number | undefined {
  const { current } = state.turn;
  const isAlone = listLiveClients(state.clients).every(
    ({ clientId, mayApprove }) => !mayApprove || clientId === current?.submitter?.clientId,
  );
  return isAlone ? current?.options?.approvalMs : undefined;
}

/** A person decided. */
export function resolveByPerson(
  decision: Decision,
  { approvalId, receipt }: PendingApproval,
  resolution: Omit<ApprovalResolved, "type" | "resolvedBy" | "approvalId" | "receipt">,
): void {
  const receiptField = receipt === undefined ? {} : { receipt };
  decision.emit({
    type: "approval.resolved",
    approvalId,
    ...resolution,
    resolvedBy: "person",
    ...receiptField,
  });
}

/** Somebody said yes where several have to. */
export function emitVote(decision: Decision, vote: Omit<ApprovalVoted, "type">): void {
  decision.emit({ type: "approval.voted", ...vote });
}

/** Nobody answered, and that is no yes. */
export function resolveWithoutDecision(
  decision: Decision,
  { approvalId, question, receipt }: PendingApproval,
  resolvedBy: Exclude<ApprovalResolved["resolvedBy"], "person">,
): void {
  const approvalDecision = DENYING_DECISIONS[question];
  // A request that a change closed was not denied: its call is judged anew.
  const receiptField = receipt === undefined || resolvedBy === "change" ? {} : { receipt };
  decision.emit({
    type: "approval.resolved",
    approvalId,
    decision: approvalDecision,
    resolvedBy,
    ...receiptField,
  });
}

/**
 * From a receipt on, nobody knows what people said: nothing counts that they allowed before this. Questions are asked
 * again, since what they show may be made up as well. That of a lost call lets no tool run, and stays.
 */
export function invalidateApprovals(decision: Decision, seq: number): void {
  decision.emit({ type: "approvals.invalidated", seq });
  for (const request of decision.state.approvals.pending) {
    if (request.question !== "lost-invocation") resolveWithoutDecision(decision, request, "change");
  }
}
