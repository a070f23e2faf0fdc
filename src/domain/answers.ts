import type { Decision, Question } from "./agent-event.ts";

/** The answer to each question that lets nothing run: what nobody's answer means. */
export const NO_TO: { readonly [One in Question]: Decision } = {
  run: "deny",
  outcome: "failed",
  "lost-call": "stop",
};

/** Whether an answer lets something run. */
export function isYes(decision: Decision): boolean {
  return decision === "allow" || decision === "allow-always" || decision === "run-again";
}
