import type { JsonObject, JsonValue } from "../../data/json.ts";
import type { Signature } from "./signature.ts";
import type { ApprovalDecision, ApprovalQuestion } from "../policy/approval-decision.ts";
import type { MatchedRule, PolicyDecision } from "../policy/policy-decision.ts";
import type { FileDiff } from "../tools/tool-output.ts";
import type { Question } from "../question.ts";
import type { WorkerAudit } from "../agent-spec.ts";

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
  /** The id of the tool call, of the lost invocation, or of the turn whose budget is reached. */
  readonly subjectId: string;
  /** The tool's name and arguments, for display. */
  readonly action: string;
  readonly input: JsonObject | null;
  /** Milliseconds since 1970. */
  readonly deadline: number;
  /** Number of different principals who must approve, or give the same answer. Default: 1. */
  readonly approvers?: number;
  /** The question of the agent. Present if `question` is `question`. */
  readonly form?: Question;
  /** The attempt which an approval starts. Absent for the first. */
  readonly attempt?: number;
  /** Label of the grant which `allow-always` would add, such as `edit_file of README.md`. */
  readonly grantLabel?: string;
  /** The policy decision behind this request. */
  readonly decision?: PolicyDecision;
  readonly diffs?: readonly FileDiff[];
  readonly evidence?: readonly Evidence[];
  /** The controller when the request was made. Absent if the session had none. */
  readonly routedTo?: ApprovalRoute;
  /** Set on the copy of a worker's request, which the session of the worker decides. */
  readonly worker?: WorkerOrigin;
  /** Absent in logs from before requests were signed. */
  readonly signature?: Signature;
}

/** The worker which makes a request, possibly several levels below the session that shows the request. */
export interface WorkerOrigin {
  readonly workerId: string;
  readonly name: string;
  /** The agent of the worker. Absent in older logs. */
  readonly agent?: string;
  /** The session of the worker, which decides. */
  readonly sessionId: string;
  /** Id of the session of which the worker is a child. Absent for a worker of this session. */
  readonly parentSessionId?: string;
  /** The worker of this session through which the request arrived. */
  readonly through: string;
  /** Absent without a mutation scope. */
  readonly audit?: WorkerAudit;
}

/** A reference for the approver to inspect. */
export interface Evidence {
  readonly kind: string;
  readonly ref: string;
  readonly metadata: JsonObject;
}

/** An open approval request moved to another controller than at its creation. */
export interface ApprovalRouted {
  readonly type: "approval.routed";
  readonly approvalId: string;
  readonly routedTo: ApprovalRoute;
}

/** The controller which receives an approval request. */
export interface ApprovalRoute {
  readonly clientId: string;
  /** The client's description of itself. */
  readonly metadata: JsonObject;
}

/** A principal approved, but further approvals are required. */
export interface ApprovalVoted {
  readonly type: "approval.voted";
  readonly approvalId: string;
  readonly principal: string;
  readonly decision: ApprovalDecision;
  /** Digest of the approved arguments, or of the answer. */
  readonly digest: string;
  /** The approved arguments. Absent if they equal the agent's. */
  readonly input?: JsonObject;
  /** The answer to a question of the agent. */
  readonly answer?: JsonValue;
  readonly reason?: string;
  readonly signature?: Signature;
}

export interface ApprovalResolved {
  readonly type: "approval.resolved";
  readonly approvalId: string;
  readonly decision: ApprovalDecision;
  /**
   * `person`: an approver decided. `deadline`, `cancel`: no approver did. `change`: the rules, the mode or the tool
   * have changed since the request; the tool call is evaluated again.
   */
  readonly resolvedBy: "person" | "deadline" | "cancel" | "change";
  readonly reason?: string;
  /** The arguments the tool runs with, in place of the agent's. Absent if unchanged. */
  readonly input?: JsonObject;
  /** The answer to a question of the agent. Absent if no person answered. */
  readonly answer?: JsonValue;
  /** The reviewer's name as stated by the client. For display only: `principals` and the actor identify people. */
  readonly reviewer?: string;
  /** The approving principals. Present only if several were required. */
  readonly principals?: readonly string[];
  /** The policy decision shown in the request. Absent in logs written before this field existed. */
  readonly receipt?: PolicyDecision;
  /** Set on the copy of a worker's resolution: the worker of this session through which the request arrived. */
  readonly through?: string;
  readonly signature?: Signature;
}

/** Tool calls within `scope` no longer need an approval in this session. A grant never allows a denied call. */
export interface GrantAdded {
  readonly type: "grant.added";
  readonly grantId: string;
  readonly approvalId: string;
  readonly scope: GrantScope;
  readonly signature?: Signature;
}

/** Conditions on a tool call; all of them must hold. */
export interface GrantScope {
  readonly tool: string;
  /** The rule which required the approval. */
  readonly rule: MatchedRule | null;
  /** Further rules which required the approval. */
  readonly otherRules?: readonly (MatchedRule | null)[];
  /** The command, for display only. Absent for tools which do not run commands. */
  readonly command?: string;
  /**
   * Digest of all arguments. Present if any changed argument could change the effect: in another folder, the same
   * command is another call.
   */
  readonly digest?: string;
  /** The required targets of its path arguments. */
  readonly paths?: readonly GrantedPath[];
}

export interface GrantedPath {
  readonly argument: string;
  /** Absolute path with symlinks resolved. Null if the path is invalid. */
  readonly hostPath: string | null;
}

export interface GrantRevoked {
  readonly type: "grant.revoked";
  readonly grantId: string;
  readonly signature?: Signature;
}

/**
 * A receipt in this log is missing or was not signed by this user's bridge. Every earlier approval and grant becomes
 * invalid, and people are asked again.
 */
export interface ApprovalsInvalidated {
  readonly type: "approvals.invalidated";
  /** Position of the first such receipt; the end of the log if the receipts after it are missing. */
  readonly seq: number;
  readonly signature?: Signature;
}
