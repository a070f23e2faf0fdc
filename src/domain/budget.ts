import { integer, number, object, optional } from "../data/schema-reader.ts";

/**
 * - `tokens`: all tokens of the invocations, as reported by the provider.
 * - `seconds`: the time of turns, without the time spent waiting for people.
 * - `toolCalls`: tool calls which were started. Several attempts count once.
 * - `invocations`: requests to the provider.
 * - `usd`: the estimated price of the tokens, in US dollars.
 */
export const BUDGET_UNITS = ["tokens", "seconds", "toolCalls", "invocations", "usd"] as const;
export type BudgetUnit = (typeof BUDGET_UNITS)[number];

export type BudgetAmounts = { readonly [Unit in BudgetUnit]: number };

/** The cap of each unit. A unit without a cap is unlimited. */
export type BudgetCaps = { readonly [Unit in BudgetUnit]?: number };

/** Budgets which one session counts alone, in its log. */
export const LOCAL_SCOPES = ["turn", "session"] as const;
export type LocalScope = (typeof LOCAL_SCOPES)[number];

/**
 * Budgets which all sessions of an agent share, in the record store:
 *
 * - `principal`: the turns of one principal.
 * - `day`: the turns of all principals on one day (UTC).
 * - `principalDay`: the turns of one principal on one day (UTC).
 */
export const SHARED_SCOPES = ["principal", "day", "principalDay"] as const;
export type SharedScope = (typeof SHARED_SCOPES)[number];

export const BUDGET_SCOPES = [...LOCAL_SCOPES, ...SHARED_SCOPES] as const;
export type BudgetScope = (typeof BUDGET_SCOPES)[number];

/** The budgets of an agent. A budget that is reached pauses the turn until an approver decides. */
export type AgentBudgets = { readonly [Scope in BudgetScope]?: BudgetCaps } & {
  /** Prices for the unit `usd`. */
  readonly prices?: TokenPrices;
  /** The amount an approval adds, as a share of the cap. Default: 1, the same amount again. */
  readonly extend?: number;
};

/** US dollars per million tokens. Default of the cache prices: the price of an input token. */
export interface TokenPrices {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
}

/** The use of one budget in one unit. */
export interface BudgetLevel {
  readonly scope: BudgetScope;
  readonly unit: BudgetUnit;
  readonly used: number;
  /** The configured cap, or the cap after an approval. */
  readonly cap: number;
}

/** The amounts used in one scope, with its caps. */
export interface ScopeUsage {
  /** The scope and its owner, such as `session ses_1` and `principal demo me`. */
  readonly name: string;
  readonly used: BudgetAmounts;
  /** Caps by configuration, or raised by approvals. Empty if unlimited or unknown. */
  readonly caps: BudgetCaps;
  /** Number of open reservations: running invocations, and tool calls about to start. */
  readonly reservations: number;
}

const COUNT = optional(integer({ min: 1 }));
const AMOUNT = optional(number({ above: 0 }));

/** The caps of one budget, in a configuration and in a request. */
export const BUDGET_CAPS_SCHEMA = object({
  tokens: COUNT,
  seconds: AMOUNT,
  toolCalls: COUNT,
  invocations: COUNT,
  usd: AMOUNT,
});

/** Formats an amount with its unit, such as `20,000 tokens` and `$1.50`. */
export function formatQuantity(unit: BudgetUnit, amount: number): string {
  const text = formatAmount(unit, amount);
  return unit === "usd" ? text : `${text} ${formatUnit(unit, amount)}`;
}

export function formatUnit(unit: Exclude<BudgetUnit, "usd">, amount: number): string {
  return amount === 1 ? UNIT_NAMES[unit] : `${UNIT_NAMES[unit]}s`;
}

const UNIT_NAMES: { readonly [Unit in Exclude<BudgetUnit, "usd">]: string } = {
  tokens: "token",
  seconds: "second",
  toolCalls: "tool call",
  invocations: "invocation",
};

/** Formats an amount without its unit: grouped digits, and cents for dollars. */
export function formatAmount(unit: BudgetUnit, amount: number): string {
  if (unit === "usd")
    return `$${amount >= 0.01 || amount === 0 ? amount.toFixed(2) : amount.toPrecision(2)}`;
  const isWhole = unit !== "seconds" || Number.isInteger(amount) || amount >= 100;
  const digits = isWhole ? String(Math.round(amount)) : amount.toFixed(1);
  return digits.replaceAll(/\B(?=(\d{3})+(?!\d))/g, ",");
}
