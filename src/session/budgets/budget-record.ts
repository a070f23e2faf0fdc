import {
  boolean,
  number,
  object,
  optional,
  record,
  string,
  withDefault,
  type Infer,
} from "../../data/schema-reader.ts";
import type { JsonValue } from "../../data/json.ts";
import {
  BUDGET_UNITS,
  type BudgetAmounts,
  type BudgetCaps,
  type BudgetUnit,
  type SharedScope,
} from "../../domain/budget.ts";
import { addAmounts, NO_AMOUNTS } from "./budgets-state.ts";

/** The scope of all shared budgets in the record store. */
export const BUDGET_RECORDS = "budget";

/** The owner of a shared budget. The scope decides which fields are part of the record's key. */
export interface BudgetOwner {
  readonly scope: SharedScope;
  readonly agent: string;
  readonly principal: string;
  /** Such as `2026-11-18`. */
  readonly day: string;
}

/** The key of a budget: the values on which its scope depends. */
export function createBudgetKey({ scope, agent, principal, day }: BudgetOwner): string {
  const parts = { principal: [principal], day: [day], principalDay: [day, principal] }[scope];
  return JSON.stringify([scope, agent, ...parts]);
}

const AMOUNT = withDefault(number({ min: 0 }), 0);
const AMOUNTS = object({
  tokens: AMOUNT,
  seconds: AMOUNT,
  toolCalls: AMOUNT,
  invocations: AMOUNT,
  usd: AMOUNT,
});
const CAP = optional(number({ above: 0 }));

/** `isSettled`: the invocation is charged. The entry then only prevents a second charge. */
const ENTRY = object({
  id: string(),
  at: number(),
  amounts: optional(AMOUNTS),
  expiresAt: optional(number()),
  isSettled: optional(boolean()),
});

const BUDGET_RECORD = object({
  used: AMOUNTS,
  /** Caps raised by approvals. */
  raised: object({ tokens: CAP, seconds: CAP, toolCalls: CAP, invocations: CAP, usd: CAP }),
  /** By session: its open reservation, or its last charge. */
  sessions: record(ENTRY),
});

export type BudgetRecord = Infer<typeof BUDGET_RECORD>;
type SessionEntry = Infer<typeof ENTRY>;

const EMPTY_RECORD: BudgetRecord = { used: NO_AMOUNTS, raised: {}, sessions: {} };

/** Throws a `SchemaError` for a value not written by this file. */
export function readBudgetRecord(value: JsonValue | undefined): BudgetRecord {
  return value === undefined ? EMPTY_RECORD : BUDGET_RECORD(value, BUDGET_RECORDS);
}

export interface ReserveRequest {
  readonly sessionId: string;
  readonly invocationId: string;
  readonly estimate: BudgetAmounts;
  readonly caps: BudgetCaps;
  /** Caps after an approval in this session. */
  readonly raised: BudgetCaps;
  readonly now: number;
  /** Later sessions ignore the reservation from this time on. */
  readonly expiresAt: number;
}

/**
 * - `reserved`: `record` contains the reservation, of at most the requested tool calls. A repeated request returns the
 *   record unchanged.
 * - `reached`: the budget is used. The turn needs a decision.
 * - `busy`: reservations of other sessions cover the rest, or too many reservations are open. A part may become free
 *   when other sessions settle.
 */
export type ReserveResult =
  | {
      readonly status: "reserved";
      readonly record: BudgetRecord;
      readonly caps: BudgetCaps;
      readonly toolCalls: number;
    }
  | {
      readonly status: "reached";
      readonly unit: BudgetUnit;
      readonly used: number;
      readonly cap: number;
    }
  | { readonly status: "busy" };

/**
 * Reserves the amounts of an invocation, or tool calls. An invocation is possible while less than the cap is used and
 * reserved, so all reservations together exceed the cap by less than the last of them. Tool calls never exceed their
 * cap: fewer are reserved. Idempotent: a repeated request returns the record unchanged.
 */
export function reserveBudget(before: BudgetRecord, request: ReserveRequest): ReserveResult {
  const { sessionId, invocationId, estimate, now, expiresAt } = request;
  const sessions = dropExpired(before.sessions, now);
  const raised = mergeCaps(before.raised, request.raised);
  const caps = resolveCaps(request.caps, raised);
  const entry = sessions[sessionId];
  // Also for a charged invocation: an aborted attempt may arrive after the charge.
  if (entry?.id === invocationId)
    return { status: "reserved", record: before, caps, toolCalls: entry.amounts?.toolCalls ?? 0 };
  const others = Object.entries(sessions).filter(([id]) => id !== sessionId);
  const open = others.map(([, other]) => other).filter(({ isSettled }) => isSettled !== true);
  const reserved = open.reduce((sum, other) => addAmounts(sum, other.amounts ?? {}), NO_AMOUNTS);
  const isForTools = estimate.toolCalls > 0;
  const units = isForTools ? (["toolCalls"] as const) : INVOCATION_UNITS;
  const isUsed = (unit: BudgetUnit, amount: number): boolean => {
    const unused = (caps[unit] ?? Infinity) - amount;
    return isForTools ? unused < 1 : unused <= 0;
  };
  for (const unit of units) {
    const { [unit]: cap = Infinity } = caps;
    const used = before.used[unit];
    if (isUsed(unit, used)) return { status: "reached", unit, used, cap };
  }
  const isCovered = units.some((unit) => isUsed(unit, before.used[unit] + reserved[unit]));
  if (isCovered || open.length >= MAX_RESERVATIONS) return { status: "busy" };
  const unusedToolCalls = (caps.toolCalls ?? Infinity) - before.used.toolCalls - reserved.toolCalls;
  const toolCalls = isForTools ? Math.min(estimate.toolCalls, Math.floor(unusedToolCalls)) : 0;
  const amounts = isForTools
    ? { ...estimate, toolCalls }
    : widenEstimate(estimate, { caps, used: before.used, reserved });
  const reservation: SessionEntry = { id: invocationId, at: now, amounts, expiresAt };
  const record = {
    used: before.used,
    raised,
    sessions: keepNewest({ ...sessions, [sessionId]: reservation }),
  };
  return { status: "reserved", record, caps, toolCalls };
}

/**
 * Returns the amounts to reserve for an invocation: at least as much as an average invocation of the budget. Before the
 * first charge no average is known, so a share of the rest is reserved. Otherwise many parallel turns with low estimates
 * could exceed the cap together.
 */
function widenEstimate(
  estimate: BudgetAmounts,
  {
    caps,
    used,
    reserved,
  }: {
    readonly caps: BudgetCaps;
    readonly used: BudgetAmounts;
    readonly reserved: BudgetAmounts;
  },
): BudgetAmounts {
  const widen = (unit: "tokens" | "seconds" | "usd"): number => {
    const { [unit]: cap = 0 } = caps;
    const typical =
      used.invocations > 0
        ? used[unit] / used.invocations
        : (cap - used[unit] - reserved[unit]) * FIRST_SHARE;
    return Math.max(estimate[unit], typical);
  };
  return {
    ...estimate,
    toolCalls: 0,
    tokens: Math.ceil(widen("tokens")),
    seconds: widen("seconds"),
    usd: widen("usd"),
  };
}

/** The share of the rest which is reserved while no average is known. */
const FIRST_SHARE = 0.125;

/** The units of an invocation. Tool calls have their own reservations. */
const INVOCATION_UNITS = BUDGET_UNITS.filter((unit) => unit !== "toolCalls");

export interface SettleRequest {
  readonly sessionId: string;
  readonly invocationId: string;
  readonly amounts: BudgetAmounts;
  readonly now: number;
}

/** Charges an invocation and removes its reservation. Idempotent: an invocation is charged once. */
export function settleBudget(before: BudgetRecord, request: SettleRequest): BudgetRecord {
  const { sessionId, invocationId: id, amounts, now } = request;
  const entry = before.sessions[sessionId];
  if (entry?.id === id && entry.isSettled === true) return before;
  const settled: SessionEntry = { id, at: now, isSettled: true };
  return {
    ...before,
    used: addAmounts(before.used, amounts),
    sessions: keepNewest({ ...before.sessions, [sessionId]: settled }),
  };
}

/** Removes a reservation of an invocation which cannot start now. */
export function releaseBudget(
  before: BudgetRecord,
  { sessionId, invocationId }: Pick<SettleRequest, "sessionId" | "invocationId">,
): BudgetRecord {
  const { [sessionId]: entry, ...others } = before.sessions;
  if (entry?.id !== invocationId || entry.isSettled === true) return before;
  return { ...before, sessions: others };
}

function resolveCaps(configured: BudgetCaps, raised: BudgetCaps): BudgetCaps {
  const caps = BUDGET_UNITS.flatMap((unit) => {
    const cap = configured[unit];
    return cap === undefined ? [] : [[unit, Math.max(cap, raised[unit] ?? 0)] as const];
  });
  return Object.fromEntries(caps);
}

/** The higher cap of both. */
function mergeCaps(left: BudgetCaps, right: BudgetCaps): BudgetCaps {
  const caps = BUDGET_UNITS.flatMap((unit) => {
    const cap = Math.max(left[unit] ?? 0, right[unit] ?? 0);
    return cap === 0 ? [] : [[unit, cap] as const];
  });
  return Object.fromEntries(caps);
}

type Entries = BudgetRecord["sessions"];

/** Drops expired reservations of sessions which never settled. A later charge of such a session still counts. */
function dropExpired(sessions: Entries, now: number): Entries {
  const live = Object.entries(sessions).filter(
    ([, { isSettled, expiresAt = Infinity }]) => isSettled === true || expiresAt > now,
  );
  return Object.fromEntries(live);
}

/** Drops the oldest charges, so the record stays below the limit of the store. */
function keepNewest(sessions: Entries): Entries {
  const entries = Object.entries(sessions);
  const settled = entries.filter(([, { isSettled }]) => isSettled === true);
  if (settled.length <= MAX_CHARGES) return sessions;
  const oldest = settled
    .toSorted(([, first], [, second]) => first.at - second.at)
    .slice(0, settled.length - MAX_CHARGES);
  const dropped = new Set(oldest.map(([id]) => id));
  return Object.fromEntries(entries.filter(([id]) => !dropped.has(id)));
}

/** Maximum number of open reservations per budget. Further sessions wait. */
const MAX_RESERVATIONS = 128;
/**
 * Maximum number of stored charges per budget. A stored charge is recognized when a restarted session repeats the
 * charge.
 */
const MAX_CHARGES = 128;
