import type { JsonObject } from "../../data/json.ts";
import type { Signature } from "./signature.ts";
import type { ApprovalDecision, ApprovalQuestion } from "../policy/approval-decision.ts";
import type { MatchedRule, PolicyDecision } from "../policy/policy-decision.ts";
import type { FileDiff } from "../tools/tool-output.ts";

/** Events of the slice `approvals`: approval requests, votes and grants. */
export type ApprovalEvent =
  | ApprovalRequested
  | ApprovalRouted
  | ApprovalVoted
  | ApprovalResolved
  | GrantAdded
  | GrantRevoked
  | ApprovalsInvalidated;

export interface ApprovalRequested {
  readonly type: "approval.requested";
  readonly approvalId: string;
  readonly question: ApprovalQuestion;
  readonly options: readonly ApprovalDecision[];
  /** The call of the tool, or the lost call of the provider. */
  readonly subjectId: string;
  /** What people read: the tool's name and its arguments. */
  readonly action: string;
  readonly input: JsonObject | null;
  /** In milliseconds since 1970. */
  readonly deadline: number;
  /** How many different principals have to say yes; one where nothing is said. */
  readonly approvers?: number;
  /** The attempt that a yes starts. Absent for the first. */
  readonly attempt?: number;
  /** What a yes for good would allow, for people, such as `edit_file of README.md`. */
  readonly grantLabel?: string;
  /** Why it is asked. */
  readonly decision?: PolicyDecision;
  readonly diffs?: readonly FileDiff[];
  readonly evidence?: readonly Evidence[];
  /** The controller when the request was made. Absent if the session had none. */
  readonly routedTo?: ApprovalRoute;
  /** Absent in logs from before requests were signed. */
  readonly signature?: Signature;
}

/** Something that an approver can look at. */
export interface Evidence {
  readonly kind: string;
  readonly ref: string;
  readonly metadata: JsonObject;
}

/** An open request for approval has another controller to decide it than when it was requested. */
export interface ApprovalRouted {
  readonly type: "approval.routed";
  readonly approvalId: string;
  readonly routedTo: ApprovalRoute;
}

/** The controller that a request for approval is sent to. */
export interface ApprovalRoute {
  readonly clientId: string;
  /** What the client says of itself. */
  readonly metadata: JsonObject;
}

/** Somebody said yes, and more of them have to. */
export interface ApprovalVoted {
  readonly type: "approval.voted";
  readonly approvalId: string;
  readonly principal: string;
  readonly decision: ApprovalDecision;
  /** Of the arguments that were agreed to. */
  readonly digest: string;
  /** Where those are others than the agent's. */
  readonly input?: JsonObject;
  readonly reason?: string;
  readonly signature?: Signature;
}

export interface ApprovalResolved {
  readonly type: "approval.resolved";
  readonly approvalId: string;
  readonly decision: ApprovalDecision;
  /**
   * `person`: somebody answered. `deadline`, `cancel`: nobody did. `change`: the rules, the mode or the tool are others than when
   * it was asked; the call is judged anew.
   */
  readonly resolvedBy: "person" | "deadline" | "cancel" | "change";
  readonly reason?: string;
  /** What the tool runs with instead. */
  readonly input?: JsonObject;
  /** Those who said yes, where there had to be several. */
  readonly principals?: readonly string[];
  /** The policy decision that the request showed. Absent in logs of before it was copied here. */
  readonly receipt?: PolicyDecision;
  readonly signature?: Signature;
}

/** Calls like this one are not asked about any more in this session. Nothing that is denied is allowed by it. */
export interface GrantAdded {
  readonly type: "grant.added";
  readonly grantId: string;
  readonly approvalId: string;
  readonly scope: GrantScope;
  readonly signature?: Signature;
}

/** What a call has to be like: all of it. */
export interface GrantScope {
  readonly tool: string;
  /** The rule that asked. */
  readonly rule: MatchedRule | null;
  /** Those that asked beside it. */
  readonly otherRules?: readonly (MatchedRule | null)[];
  /** For a tool that runs commands: what people read of it. */
  readonly command?: string;
  /** Of all its arguments, where any other may do something else: in another folder, it is another command. */
  readonly digest?: string;
  /** Where its paths have to lead. */
  readonly paths?: readonly GrantedPath[];
}

export interface GrantedPath {
  readonly argument: string;
  /** From the root of the machine, symlinks followed. */
  readonly hostPath: string | null;
}

export interface GrantRevoked {
  readonly type: "grant.revoked";
  readonly grantId: string;
  readonly signature?: Signature;
}

/**
 * A receipt of this log is not proven to be of this user's bridge, or one is missing: nothing that was allowed before
 * counts any more, and people are asked again.
 */
export interface ApprovalsInvalidated {
  readonly type: "approvals.invalidated";
  /** Where the first such receipt stands; the end of the log if the receipts after it are missing. */
  readonly seq: number;
  readonly signature?: Signature;
}
