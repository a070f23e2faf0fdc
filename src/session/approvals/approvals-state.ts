import type {
  ApprovalEvent,
  ApprovalRequested,
  GrantScope,
  WorkerOrigin,
} from "../../domain/events/approval-events.ts";
import type { Question } from "../../domain/question.ts";
import type { ApprovalDecision, ApprovalQuestion } from "../../domain/policy/approval-decision.ts";
import type { PolicyDecision } from "../../domain/policy/policy-decision.ts";
import { digestValue } from "../../platform/digest.ts";
import { createGrantScope } from "./grant-scope.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

export interface ApprovalsState {
  /** Open requests in order of creation. They survive restarts. */
  readonly pending: readonly PendingApproval[];
  /** Permanent grants of this session. */
  readonly grants: readonly Grant[];
}

export interface PendingApproval {
  readonly approvalId: string;
  readonly question: ApprovalQuestion;
  readonly subjectId: string;
  /** Log position of the request. */
  readonly seq: number;
  readonly options: readonly ApprovalDecision[];
  readonly deadline: number;
  /** Number of different principals who must approve. */
  readonly approvers: number;
  readonly votes: readonly Vote[];
  /** The question of the agent. Absent for other requests. */
  readonly form?: Question;
  /** Scope of the grant which `allow-always` would add. Absent if none can be added. */
  readonly scope?: GrantScope;
  /** The policy decision shown in the request. Absent if there is none. */
  readonly receipt?: PolicyDecision;
  /** Set if the session of a worker decides. */
  readonly worker?: WorkerOrigin;
}

export interface Vote {
  readonly principal: string;
  /** Digest of the approved arguments, or of the answer. */
  readonly digest: string;
  /** Log position of the vote. */
  readonly seq: number;
}

export interface Grant {
  readonly grantId: string;
  readonly scope: GrantScope;
}

export const initialApprovals: ApprovalsState = { pending: [], grants: [] };

/** Applies the event at the log position `seq`. */
export function evolveApprovals(
  approvals: ApprovalsState,
  event: ApprovalEvent,
  seq: number,
): ApprovalsState {
  const { pending, grants } = approvals;
  switch (event.type) {
    case "approval.requested": {
      const { approvalId, question, subjectId, options, deadline, approvers = 1, decision } = event;
      const { form, worker } = event;
      const request = {
        approvalId,
        question,
        subjectId,
        seq,
        options,
        deadline,
        approvers,
        votes: [],
        ...omitUndefined({ form, worker }),
      };
      const receiptField =
        decision === undefined ? {} : { receipt: decision, ...readGrantableScope(event) };
      return { ...approvals, pending: [...pending, { ...request, ...receiptField }] };
    }
    case "approval.voted": {
      const { approvalId, principal, digest } = event;
      const voted = pending.map((entry) =>
        entry.approvalId === approvalId
          ? { ...entry, votes: [...withoutVote(entry, principal), { principal, digest, seq }] }
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

/** Only a request to run a tool can lead to a grant. */
function readGrantableScope({
  question,
  decision,
  input,
  worker,
}: ApprovalRequested): Pick<PendingApproval, "scope"> {
  if (question !== "run" || decision === undefined || worker !== undefined) return {};
  return { scope: createGrantScope(decision, digestValue(input ?? {})) };
}

/** A new approval of other arguments replaces the principal's earlier one. */
function withoutVote({ votes }: PendingApproval, principal: string): PendingApproval["votes"] {
  return votes.filter((vote) => vote.principal !== principal);
}
