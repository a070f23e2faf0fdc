import type { Decision } from "../decision.ts";
import { resolveWithoutDecision } from "./approval-requests.ts";

/**
 * From a receipt on, nobody knows what people said: nothing counts that they allowed before this. Questions are asked
 * again, since what they show may be made up as well. That of a lost call lets no tool run, and stays.
 */
export function invalidateApprovals(decision: Decision, seq: number): void {
  decision.emit({ type: "approvals.invalidated", seq });
  for (const request of decision.state.approvals.pending) {
    if (request.question !== "lost-invocation") resolveWithoutDecision(decision, request, "change");
  }
}
