/**
 * What an approval request asks for: permission to run a tool; the outcome of a tool interrupted by a crash; how to
 * continue after a lost invocation; whether a turn continues beyond its budget; the answer to a question of the agent.
 */
export type ApprovalQuestion = "run" | "outcome" | "lost-invocation" | "budget" | "question";

/** Whether the subject of a request is a tool call. A question is the call which asks it. */
export function isAboutToolCall(
  question: ApprovalQuestion,
): question is "run" | "outcome" | "question" {
  return isToolQuestion(question) || question === "question";
}

/** Whether a request is about running a tool. */
export function isToolQuestion(question: ApprovalQuestion): question is "run" | "outcome" {
  return question === "run" || question === "outcome";
}

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
  /** For `lost-invocation` and `budget`; `reseed` only for the former. */
  | "continue"
  | "reseed"
  | "stop"
  /** For `question`: a person answered, or approved. */
  | "answer"
  | "decline";

/** The decision of a plain "yes". */
export const APPROVING_DECISIONS: { readonly [One in ApprovalQuestion]: ApprovalDecision } = {
  run: "allow",
  outcome: "run-again",
  "lost-invocation": "continue",
  question: "answer",
  budget: "continue",
};

/** The decision of a plain "no", and of an expired request. Runs nothing. */
export const DENYING_DECISIONS: { readonly [One in ApprovalQuestion]: ApprovalDecision } = {
  run: "deny",
  outcome: "deny",
  "lost-invocation": "stop",
  question: "decline",
  budget: "stop",
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
  answer: "answer",
  decline: "decline",
};

/** Whether a decision lets a tool run. */
export function isApproving(decision: ApprovalDecision): boolean {
  return decision === "allow" || decision === "allow-always" || decision === "run-again";
}

/** Whether a decision counts towards the required number of people. Any other decision resolves the request at once. */
export function isCounted(decision: ApprovalDecision): boolean {
  return isApproving(decision) || decision === "answer";
}
