import type { ApprovalDecision, ApprovalQuestion } from "../events/session-event.ts";

/** The decision that a plain yes stands for. */
export const APPROVING_DECISIONS: { readonly [One in ApprovalQuestion]: ApprovalDecision } = {
  run: "allow",
  outcome: "run-again",
  "lost-call": "continue",
};

/** The decision that a plain no stands for, and the one that holds if nobody decides. It runs nothing. */
export const DENYING_DECISIONS: { readonly [One in ApprovalQuestion]: ApprovalDecision } = {
  run: "deny",
  outcome: "deny",
  "lost-call": "stop",
};

/** Whether a decision lets a tool run. */
export function isApproving(decision: ApprovalDecision): boolean {
  return decision === "allow" || decision === "allow-always" || decision === "run-again";
}
