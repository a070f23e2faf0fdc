import type {
  AgentEvent,
  ApprovalRequested,
  Decision,
  GrantScope,
  Question,
} from "../../domain/agent-event.ts";
import type { PolicyDecision } from "../../domain/policy-decision.ts";
import { digestOf } from "../../platform/digest.ts";
import { scopeOf } from "./grant-scope.ts";

export interface ApprovalsState {
  /** Questions that wait for an answer, in the order they were asked. They wait through restarts. */
  readonly pending: readonly PendingApproval[];
  /** What was allowed for good. */
  readonly grants: readonly Grant[];
}

export interface PendingApproval {
  readonly approvalId: string;
  readonly question: Question;
  readonly about: string;
  readonly options: readonly Decision[];
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

export function evolveApprovals(approvals: ApprovalsState, event: AgentEvent): ApprovalsState {
  const { pending, grants } = approvals;
  switch (event.type) {
    case "approval.requested": {
      const { approvalId, question, about, options, deadline, approvers = 1, decision } = event;
      const asked = { approvalId, question, about, options, deadline, approvers, votes: [] };
      const shown = decision === undefined ? {} : { receipt: decision, ...grantable(event) };
      return { ...approvals, pending: [...pending, { ...asked, ...shown }] };
    }
    case "approval.voted": {
      const { approvalId, principal, digest } = event;
      const voted = pending.map((one) =>
        one.approvalId === approvalId
          ? { ...one, votes: [...withoutVote(one, principal), { principal, digest }] }
          : one,
      );
      return { ...approvals, pending: voted };
    }
    case "approval.resolved":
      return {
        ...approvals,
        pending: pending.filter(({ approvalId }) => approvalId !== event.approvalId),
      };
    case "grant.given": {
      const { grantId, scope } = event;
      return { ...approvals, grants: [...grants, { grantId, scope }] };
    }
    case "grant.revoked":
      return { ...approvals, grants: grants.filter(({ grantId }) => grantId !== event.grantId) };
    case "approvals.doubted":
      return { pending: pending.map((one) => ({ ...one, votes: [] })), grants: [] };
    default:
      return approvals;
  }
}

/** Only a request to run a tool for the first time can be allowed for good. */
function grantable({
  question,
  decision,
  input,
}: ApprovalRequested): Pick<PendingApproval, "scope"> {
  if (question !== "run" || decision === undefined) return {};
  return { scope: scopeOf(decision, digestOf(input ?? {})) };
}

/** Whoever says yes to other arguments takes back the yes to those before. */
function withoutVote({ votes }: PendingApproval, principal: string): PendingApproval["votes"] {
  return votes.filter((vote) => vote.principal !== principal);
}
