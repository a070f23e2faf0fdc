import type { ApprovalRequested, GrantScope } from "../../domain/events/approval-events.ts";
import type { SessionEvent } from "../../domain/events/session-event.ts";
import type { ApprovalDecision, ApprovalQuestion } from "../../domain/policy/approval-decision.ts";
import type { PolicyDecision } from "../../domain/policy/policy-decision.ts";
import { digestValue } from "../../platform/digest.ts";
import { createGrantScope } from "./grant-scope.ts";

export interface ApprovalsState {
  /** Questions that wait for an answer, in the order they were asked. They wait through restarts. */
  readonly pending: readonly PendingApproval[];
  /** What was allowed for good. */
  readonly grants: readonly Grant[];
}

export interface PendingApproval {
  readonly approvalId: string;
  readonly question: ApprovalQuestion;
  readonly subjectId: string;
  readonly options: readonly ApprovalDecision[];
  readonly deadline: number;
  /** How many different principals have to say yes. */
  readonly approvers: number;
  readonly votes: readonly Vote[];
  /** What a yes for good would be about; absent where there is none. */
  readonly scope?: GrantScope;
  /** The policy decision that the request shows. Absent if it shows none. */
  readonly receipt?: PolicyDecision;
}

export interface Vote {
  readonly principal: string;
  /** Of the arguments that were agreed to. */
  readonly digest: string;
}

export interface Grant {
  readonly grantId: string;
  readonly scope: GrantScope;
}

export const initialApprovals: ApprovalsState = { pending: [], grants: [] };

export function evolveApprovals(approvals: ApprovalsState, event: SessionEvent): ApprovalsState {
  const { pending, grants } = approvals;
  switch (event.type) {
    case "approval.requested": {
      const { approvalId, question, subjectId, options, deadline, approvers = 1, decision } = event;
      const request = { approvalId, question, subjectId, options, deadline, approvers, votes: [] };
      const receiptField =
        decision === undefined ? {} : { receipt: decision, ...readGrantableScope(event) };
      return { ...approvals, pending: [...pending, { ...request, ...receiptField }] };
    }
    case "approval.voted": {
      const { approvalId, principal, digest } = event;
      const voted = pending.map((entry) =>
        entry.approvalId === approvalId
          ? { ...entry, votes: [...withoutVote(entry, principal), { principal, digest }] }
          : entry,
      );
      return { ...approvals, pending: voted };
    }
    case "approval.resolved":
      return {
        ...approvals,
        pending: pending.filter(({ approvalId }) => approvalId !== event.approvalId),
      };
    case "grant.added": {
      const { grantId, scope } = event;
      return { ...approvals, grants: [...grants, { grantId, scope }] };
    }
    case "grant.revoked":
      return { ...approvals, grants: grants.filter(({ grantId }) => grantId !== event.grantId) };
    case "approvals.invalidated":
      return { pending: pending.map((entry) => ({ ...entry, votes: [] })), grants: [] };
    default:
      return approvals;
  }
}

/** Only a request to run a tool for the first time can be allowed for good. */
function readGrantableScope({
  question,
  decision,
  input,
}: ApprovalRequested): Pick<PendingApproval, "scope"> {
  if (question !== "run" || decision === undefined) return {};
  return { scope: createGrantScope(decision, digestValue(input ?? {})) };
}

/** Whoever says yes to other arguments takes back the yes to those before. */
function withoutVote({ votes }: PendingApproval, principal: string): PendingApproval["votes"] {
  return votes.filter((vote) => vote.principal !== principal);
}
