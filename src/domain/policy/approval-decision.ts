/**
 * The question of an approval request: run a tool; the outcome of a tool interrupted by a crash; how to continue after
 * a lost invocation.
 */
export type ApprovalQuestion = "run" | "outcome" | "lost-invocation";

export type ApprovalDecision =
  | "allow"
  /** Allows this call and adds a grant for similar calls in this session. */
  | "allow-always"
  /** For `outcome`: the tool does not run again, and its outcome stays unknown. */
  | "deny"
  /** For `outcome`: the interrupted tool had succeeded, had failed, or must run again. */
  | "done"
  | "failed"
  | "run-again"
  /** For `lost-invocation`. */
  | "continue"
  | "reseed"
  | "stop";

/** The decision of a plain "yes". */
export const APPROVING_DECISIONS: { readonly [One in ApprovalQuestion]: ApprovalDecision } = {
  run: "allow",
  outcome: "run-again",
  "lost-invocation": "continue",
};

/** The decision of a plain "no", and of an expired request. Runs nothing. */
export const DENYING_DECISIONS: { readonly [One in ApprovalQuestion]: ApprovalDecision } = {
  run: "deny",
  outcome: "deny",
  "lost-invocation": "stop",
};

/** Names shown to people and accepted as input. */
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
