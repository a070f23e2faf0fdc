import {
  type BudgetAmounts,
  type BudgetLevel,
  BUDGET_UNITS,
  SHARED_SCOPES,
  type AgentBudgets,
  type BudgetCaps,
  type TokenPrices,
} from "../../domain/budget.ts";
import type { Usage } from "../../domain/usage.ts";
import type { BudgetExtended, BudgetRequested } from "../../domain/events/budget-events.ts";
import type { ApprovalDecision } from "../../domain/policy/approval-decision.ts";

/** The amounts used by a session, counted for every agent; the other fields change only for agents with budgets. */
export interface BudgetsState {
  readonly session: BudgetAmounts;
  /** The running turn. Between turns: the last turn. */
  readonly turn: BudgetAmounts;
  /** The last invocation which finished. Null before the first. */
  readonly lastInvocation: BudgetAmounts | null;
  /** Caps after an approval. The raised caps of a turn end with the turn. */
  readonly raisedCaps: readonly RaisedCap[];
  /** The budget for which the turn is paused. Null if none. */
  readonly reached: ReachedBudget | null;
  /** Budgets about which the agent was reminded, by the key of the reminder. */
  readonly remindedKeys: readonly string[];
  /** Amounts reported by the provider for the running invocation. */
  readonly reported: Pick<BudgetAmounts, "tokens" | "usd">;
  /** The share of the shared budgets for the next or the running invocation, or for tool calls. */
  readonly reservation: Reservation | null;
  /** The charge of an ended invocation. Null once the shared budgets contain the charge. */
  readonly charge: Charge | null;
  /** Amounts used since the last charge. */
  readonly uncharged: BudgetAmounts;
  /** The shared budgets at the last reservation. Null before the first. */
  readonly shared: SharedBudgets | null;
}

export interface SharedBudgets extends Pick<BudgetRequested, "principal" | "day"> {
  /** The levels at the reservation, plus the tool calls of this session since then. */
  readonly levels: readonly BudgetLevel[];
}

export type RaisedCap = Omit<BudgetExtended, "type">;

export interface ReachedBudget extends BudgetLevel {
  readonly approvalId?: string;
  readonly decision?: ApprovalDecision;
}

export type Reservation = Omit<BudgetRequested, "type"> & {
  /**
   * - `requested`: the reservation is being made.
   * - `refused`: a shared budget is reached.
   * - `granted`: the invocation can start, or is running; or tool calls can start.
   */
  readonly status: "requested" | "refused" | "granted";
  /** Number of refusals. Part of the effect id, so each attempt is a new effect. */
  readonly round: number;
  /** Number of reserved tool calls which have not started. */
  readonly toolCalls: number;
};

/** Whether a reservation is for tool calls, and not for an invocation. */
export function isForToolCalls({ estimate }: Pick<Reservation, "estimate">): boolean {
  return estimate.toolCalls > 0;
}

export interface Charge extends Pick<BudgetRequested, "invocationId" | "principal" | "day"> {
  readonly amounts: BudgetAmounts;
}

export const NO_AMOUNTS: BudgetAmounts = {
  tokens: 0,
  seconds: 0,
  toolCalls: 0,
  invocations: 0,
  usd: 0,
};

export const initialBudgets: BudgetsState = {
  session: NO_AMOUNTS,
  turn: NO_AMOUNTS,
  lastInvocation: null,
  raisedCaps: [],
  reached: null,
  remindedKeys: [],
  reported: { tokens: 0, usd: 0 },
  reservation: null,
  charge: null,
  uncharged: NO_AMOUNTS,
  shared: null,
};

export interface TurnClock {
  readonly startedAt: number;
  readonly waitedMs: number;
  readonly waitingSince: number | null;
}

/** Seconds of a turn, without the time spent waiting for people. */
export function measureTurnSeconds(
  { startedAt, waitedMs, waitingSince }: TurnClock,
  at: number,
): number {
  const waitMs = waitingSince === null ? 0 : Math.max(0, at - waitingSince);
  return Math.max(0, at - startedAt - waitedMs - waitMs) / 1000;
}

export function isEmptyAmounts(amounts: BudgetAmounts): boolean {
  return BUDGET_UNITS.every((unit) => amounts[unit] === 0);
}

export function addAmounts(left: BudgetAmounts, right: Partial<BudgetAmounts>): BudgetAmounts {
  const { tokens = 0, seconds = 0, toolCalls = 0, invocations = 0, usd = 0 } = right;
  return {
    tokens: left.tokens + tokens,
    seconds: left.seconds + seconds,
    toolCalls: left.toolCalls + toolCalls,
    invocations: left.invocations + invocations,
    usd: left.usd + usd,
  };
}

/** Never below 0. */
export function subtractAmounts(left: BudgetAmounts, right: BudgetAmounts): BudgetAmounts {
  return {
    tokens: Math.max(0, left.tokens - right.tokens),
    seconds: Math.max(0, left.seconds - right.seconds),
    toolCalls: Math.max(0, left.toolCalls - right.toolCalls),
    invocations: Math.max(0, left.invocations - right.invocations),
    usd: Math.max(0, left.usd - right.usd),
  };
}

/** The estimated price in US dollars. */
export function estimatePrice(usage: Usage, prices: TokenPrices): number {
  const { input, output, cacheRead = input, cacheWrite = input } = prices;
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  return (
    (inputTokens * input +
      outputTokens * output +
      cacheReadTokens * cacheRead +
      cacheWriteTokens * cacheWrite) /
    1_000_000
  );
}

export function hasSharedBudgets(budgets: AgentBudgets | undefined): boolean {
  return budgets !== undefined && SHARED_SCOPES.some((scope) => hasCaps(budgets[scope]));
}

/** Whether sessions share a budget of tool calls. */
export function hasSharedToolCap(budgets: AgentBudgets | undefined): boolean {
  return SHARED_SCOPES.some((scope) => budgets?.[scope]?.toolCalls !== undefined);
}

export function hasCaps(caps: BudgetCaps | undefined): boolean {
  return caps !== undefined && BUDGET_UNITS.some((unit) => caps[unit] !== undefined);
}
