import type { Work } from "../work.ts";
import { unanswered } from "./questions.ts";

/**
 * From a receipt on, nobody knows what people said: nothing counts that they allowed before this. Questions are asked
 * again, since what they show may be made up as well. That of a lost call lets no tool run, and stays.
 */
export function doubtApprovals(work: Work, seq: number): void {
  work.emit({ type: "approvals.doubted", seq });
  for (const asked of work.state.approvals.pending) {
    if (asked.question !== "lost-call") unanswered(work, asked, "change");
  }
}
