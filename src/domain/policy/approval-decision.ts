/** What an approver can be asked, and what can be answered. */
export type ApprovalQuestion = "run" | "outcome" | "lost-invocation";

export type ApprovalDecision =
  | "allow"
  /** This call, and those like it in this session. */
  | "allow-always"
  /** Of a tool that was running at a crash: it is not run again, and its outcome stays unknown. */
  | "deny"
  /** Of a tool that was under way at a crash. */
  | "done"
  | "failed"
  | "run-again"
  /** Of a lost call. */
  | "continue"
  | "reseed"
  | "stop";

/** The decision that a plain yes stands for. */
export const APPROVING_DECISIONS: { readonly [One in ApprovalQuestion]: ApprovalDecision } = {
  run: "allow",
  outcome: "run-again",
  "lost-invocation": "continue",
};

/** The decision that a plain no stands for, and the one that holds if nobody decides. It runs nothing. */
export const DENYING_DECISIONS: { readonly [One in ApprovalQuestion]: ApprovalDecision } = {
  run: "deny",
  outcome: "deny",
  "lost-invocation": "stop",
};

/** Decisions as people read and type them. */
export const DECISION_NAMES: { readonly [One in ApprovalDecision]: string } = {
  allow: "allow",
  "allow-always": "always allow",
  deny: "deny",
  done: "done",
  failed: "failed",
  "run-again": "run again",
  continue: "continue",
  reseed: "start over",
  stop: "stop",
};

/** Whether a decision lets a tool run. */
export function isApproving(decision: ApprovalDecision): boolean {
  return decision === "allow" || decision === "allow-always" || decision === "run-again";
}
