import type { BudgetAmounts } from "../../../domain/budget.ts";
import type { PendingApproval } from "../../approvals/approvals-state.ts";
import type { Sessions } from "../../sessions.ts";

export interface SessionTotals {
  readonly usage: BudgetAmounts;
  readonly artifactCount: number;
  /** Ids of workers which have ended and are not closed yet: a part of their use is not in `usage`. */
  readonly endedWorkers: readonly string[];
  /** The open requests to approvers, with their positions in the session's log. */
  readonly openRequests: readonly Pick<PendingApproval, "approvalId" | "seq">[];
  /** The last event of the session's log. */
  readonly seq: number;
}

/** The sessions of workers, as used by the session which delegates. */
export interface ChildSessions extends Pick<
  Sessions,
  "openWithPrompt" | "command" | "find" | "subscribe"
> {
  /** The amounts used by a session, and the number of its artifacts and handoffs. */
  readTotals(sessionId: string): Promise<SessionTotals>;
}
