import type {
  ApprovalRequested,
  ApprovalResolved,
  ApprovalVoted,
} from "../../domain/events/approval-events.ts";
import { listLiveClients } from "../../domain/live-client.ts";
import { DENYING_DECISIONS, isAboutToolCall } from "../../domain/policy/approval-decision.ts";
import { readAgentSpec, type Decision } from "../decision.ts";
import type { PendingApproval } from "./approvals-state.ts";

type ApprovalRequestInput = Omit<ApprovalRequested, "type" | "approvalId" | "deadline"> & {
  /** Milliseconds until the deadline. Default: the agent's wait for approvals. */
  readonly waitMs?: number;
};

/**
 * Requests an approval. The deadline comes from the agent's definition, or from the prompt if no other client can
 * decide.
 */
export function requestApproval(
  decision: Decision,
  { waitMs, ...request }: ApprovalRequestInput,
): void {
  const { form } = request;
  const approvalId = decision.ids.next(form === undefined ? "appr" : `hitl_${form.kind}`);
  const agentMs = waitMs ?? readAgentSpec(decision).approvalMs;
  const promptMs = resolvePromptApprovalMs(decision) ?? agentMs;
  // A question may request a shorter wait than the prompt allows.
  const chosenMs = waitMs === undefined ? promptMs : Math.min(waitMs, promptMs);
  const deadline = Math.min(decision.at + chosenMs, NO_DEADLINE);
  decision.emit({
    type: "approval.requested",
    approvalId,
    ...request,
    deadline,
    ...resolveRoute(decision),
  });
}

/** The last representable time, for requests which wait until a person decides. */
export const NO_DEADLINE = 8_640_000_000_000_000;

export function resolveRoute({ state }: Decision): Pick<ApprovalRequested, "routedTo"> {
  const controller = listLiveClients(state.clients).find(({ role }) => role === "controller");
  if (controller === undefined) return {};
  const { clientId, metadata } = controller;
  return { routedTo: { clientId, metadata } };
}

/** Records the new controller as the recipient of the open requests. Does nothing if the controller is unchanged. */
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

/** Resolves a request with the decision of a person. */
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

/** Records one of several required approvals. */
export function emitVote(decision: Decision, vote: Omit<ApprovalVoted, "type">): void {
  decision.emit({ type: "approval.voted", ...vote });
}

/** Resolves a request without a person's decision. The result never approves. */
export function resolveWithoutDecision(
  decision: Decision,
  { approvalId, question, receipt, worker }: PendingApproval,
  resolvedBy: Exclude<ApprovalResolved["resolvedBy"], "person">,
): void {
  const approvalDecision = DENYING_DECISIONS[question];
  // A request closed by a change was not denied: its tool call is evaluated again.
  const receiptField = receipt === undefined || resolvedBy === "change" ? {} : { receipt };
  decision.emit({
    type: "approval.resolved",
    approvalId,
    decision: approvalDecision,
    resolvedBy,
    ...receiptField,
    ...(worker !== undefined && { through: worker.through }),
  });
}

/**
 * Invalidates all earlier approvals, because a receipt at `seq` does not verify. Open requests are closed and asked
 * again, since their content may be forged as well. Requests about a lost invocation or a budget stay open: they do not
 * let a tool run.
 */
export function invalidateApprovals(decision: Decision, seq: number): void {
  decision.emit({ type: "approvals.invalidated", seq });
  for (const request of decision.state.approvals.pending) {
    if (isAboutToolCall(request.question) && request.worker === undefined)
      resolveWithoutDecision(decision, request, "change");
  }
}
