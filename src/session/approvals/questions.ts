import type {
  ApprovalRequested,
  ApprovalResolved,
  ApprovalVoted,
} from "../../domain/agent-event.ts";
import { liveClients } from "../../domain/live-client.ts";
import { NO_TO } from "../../domain/answers.ts";
import { agentOf, type Work } from "../work.ts";
import type { PendingApproval } from "./approvals-state.ts";

type Asked = Omit<ApprovalRequested, "type" | "approvalId" | "deadline">;

/** Asks the approver, who has so long to answer as the agent's definition says, or the prompt where nobody else is there. */
export function ask(work: Work, asked: Asked): void {
  const approvalId = work.ids.next("appr");
  const deadline = work.at + (ownWait(work) ?? agentOf(work).approvalMs);
  work.emit({ type: "approval.requested", approvalId, ...asked, deadline, ...route(work) });
}

function route({ state }: Work): Pick<ApprovalRequested, "routedTo"> {
  const controller = liveClients(state.clients).find(({ mode }) => mode === "controller");
  if (controller === undefined) return {};
  const { clientId, metadata } = controller;
  return { routedTo: { clientId, metadata } };
}

/** Records that the open requests are sent to the controller that there is now, if it is not the one from before. */
export function routeAgain(work: Work, before: string | null): void {
  const { routedTo } = route(work);
  if (routedTo === undefined || routedTo.clientId === before) return;
  for (const { approvalId } of work.state.approvals.pending) {
    work.emit({ type: "approval.routed", approvalId, routedTo });
  }
}

function ownWait({ state }: Work): number | undefined {
  const { current } = state.turn;
  const isAlone = liveClients(state.clients).every(
    ({ clientId, mayApprove }) => !mayApprove || clientId === current?.by?.clientId,
  );
  return isAlone ? current?.options?.approvalMs : undefined;
}

/** A person decided. */
export function answered(
  work: Work,
  { approvalId, receipt }: PendingApproval,
  answer: Omit<ApprovalResolved, "type" | "by" | "approvalId" | "receipt">,
): void {
  const shown = receipt === undefined ? {} : { receipt };
  work.emit({ type: "approval.resolved", approvalId, ...answer, by: "person", ...shown });
}

/** Somebody said yes where several have to. */
export function voted(work: Work, vote: Omit<ApprovalVoted, "type">): void {
  work.emit({ type: "approval.voted", ...vote });
}

/** Nobody answered, and that is no yes. */
export function unanswered(
  work: Work,
  { approvalId, question, receipt }: PendingApproval,
  by: Exclude<ApprovalResolved["by"], "person">,
): void {
  const decision = NO_TO[question];
  // A request that a change closed was not denied: its call is judged anew.
  const shown = receipt === undefined || by === "change" ? {} : { receipt };
  work.emit({ type: "approval.resolved", approvalId, decision, by, ...shown });
}
