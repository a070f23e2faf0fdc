import type { Decision, Question } from "./agent-event.ts";

/** The decision that a plain yes stands for. */
export const YES_TO: { readonly [One in Question]: Decision } = {
  run: "allow",
  outcome: "run-again",
  "lost-call": "continue",
};

/** The decision that a plain no stands for, and the one that holds if nobody decides. It runs nothing. */
export const NO_TO: { readonly [One in Question]: Decision } = {
  run: "deny",
  outcome: "deny",
  "lost-call": "stop",
};

/** Whether a decision lets a tool run. */
export function isYes(decision: Decision): boolean {
  return decision === "allow" || decision === "allow-always" || decision === "run-again";
}
