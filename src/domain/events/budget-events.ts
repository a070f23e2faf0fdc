import type { BudgetAmounts, BudgetLevel, BudgetScope, BudgetUnit } from "../budget.ts";

/** Events of the slice `budgets`. Only agents with budgets have them. */
export type BudgetEvent =
  | BudgetRequested
  | BudgetReserved
  | BudgetReached
  | BudgetExtended
  | BudgetSettled;

/**
 * The next invocation, or the next tool calls, need a share of the budgets which several sessions use. Precedes the
 * reservation. Releases an earlier reservation of tool calls which is not used up.
 */
export interface BudgetRequested {
  readonly type: "budget.requested";
  /** The id of the later `invocation.started`. Tool calls have a separate id. */
  readonly invocationId: string;
  /** The principal who is charged: the submitter of the prompt. */
  readonly principal: string;
  /** The day which is charged, such as `2026-11-18` (UTC). */
  readonly day: string;
  /** The reserved amounts: tool calls alone, or none. */
  readonly estimate: BudgetAmounts;
}

/** The estimate is reserved: no other session can use it. */
export interface BudgetReserved {
  readonly type: "budget.reserved";
  readonly invocationId: string;
  /** The shared budgets before the reservation, without reservations of other sessions. */
  readonly levels: readonly BudgetLevel[];
  /** Number of reserved tool calls, which may be less than requested. Absent for an invocation. */
  readonly toolCalls?: number;
}

/** The turn is paused: an approver decides whether it continues. */
export interface BudgetReached extends BudgetLevel {
  readonly type: "budget.reached";
}

/** An approver raised the cap. */
export interface BudgetExtended {
  readonly type: "budget.extended";
  readonly scope: BudgetScope;
  readonly unit: BudgetUnit;
  /** The new cap. */
  readonly cap: number;
  /** Whose shared budget has the new cap. Absent if the budget does not depend on a principal. */
  readonly principal?: string;
  /** The day with the new cap. Absent if the budget does not depend on a day. */
  readonly day?: string;
}

/** The shared budgets are charged with the real amounts, and the reservation is gone. */
export interface BudgetSettled {
  readonly type: "budget.settled";
  /** The id of the reservation. The rest of a turn without a reservation has a separate id. */
  readonly invocationId: string;
  readonly amounts: BudgetAmounts;
}
