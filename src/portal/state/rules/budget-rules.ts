import { formatQuantity } from "../../../domain/budget.ts";
import { silent, silentGroup } from "../../../domain/event-rules.ts";
import type { BudgetEvent } from "../../../domain/events/budget-events.ts";
import type { DaemonEvent } from "../../../domain/events/daemon-events.ts";
import type { ViewRules } from "../view-rules.ts";

export const BUDGET_RULES: ViewRules<BudgetEvent> = {
  ...silentGroup("reservations are internal", [
    "budget.requested",
    "budget.reserved",
    "budget.settled",
  ]),
  "budget.reached": (draft, event) => draft.setFacts({ budget: event }),
  "budget.extended": (draft, { scope, unit, cap }, envelope) => {
    draft.addNotice(
      envelope,
      "info",
      `Budget raised to ${formatQuantity(unit, cap)} per ${SCOPE_NAMES[scope]}`,
    );
  },
};

const SCOPE_NAMES = {
  turn: "turn",
  session: "session",
  principal: "principal",
  day: "day",
  principalDay: "principal and day",
};

export const DAEMON_RULES: ViewRules<DaemonEvent> = {
  "daemon.woken": silent("the next turn shows the reason"),
  "daemon.stopped": (draft, _, envelope) =>
    draft.addNotice(envelope, "info", "The agent stopped waiting because nothing happened"),
};
