import type { BudgetAmounts } from "../../../domain/budget.ts";
import type { Sessions } from "../../sessions.ts";

/** The sessions of workers, as used by the session which delegates. */
export interface ChildSessions extends Pick<
  Sessions,
  "openWithPrompt" | "command" | "find" | "subscribe"
> {
  /** The amounts used by a session so far. */
  readAmounts(sessionId: string): Promise<BudgetAmounts>;
}
