import type { AgentEvent, Decision, Question } from "../../domain/agent-event.ts";

/** Questions that wait for an answer, in the order they were asked. They wait through restarts. */
export interface ApprovalsState {
  readonly pending: readonly PendingApproval[];
}

export interface PendingApproval {
  readonly approvalId: string;
  readonly question: Question;
  readonly about: string;
  readonly options: readonly Decision[];
  readonly deadline: number;
}

export const initialApprovals: ApprovalsState = { pending: [] };

export function evolveApprovals(approvals: ApprovalsState, event: AgentEvent): ApprovalsState {
  switch (event.type) {
    case "approval.requested": {
      const { approvalId, question, about, options, deadline } = event;
      const asked = { approvalId, question, about, options, deadline };
      return { pending: [...approvals.pending, asked] };
    }
    case "approval.resolved":
      return {
        pending: approvals.pending.filter(({ approvalId }) => approvalId !== event.approvalId),
      };
    default:
      return approvals;
  }
}
