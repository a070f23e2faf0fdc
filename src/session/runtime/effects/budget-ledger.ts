import type { JsonValue } from "../../../data/json.ts";
import {
  BUDGET_UNITS,
  SHARED_SCOPES,
  type AgentBudgets,
  type BudgetAmounts,
  type BudgetLevel,
  type SharedScope,
} from "../../../domain/budget.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { RecordStore } from "../../../store/record-store.ts";
import {
  BUDGET_RECORDS,
  createBudgetKey,
  readBudgetRecord,
  releaseBudget,
  reserveBudget,
  settleBudget,
  type BudgetOwner,
  type BudgetRecord,
  type ReserveResult,
} from "../../budgets/budget-record.ts";
import { type RaisedCap, hasCaps } from "../../budgets/budgets-state.ts";

/** The shared budgets of all sessions, in the record store. Several processes may use one store. */
export interface BudgetLedger {
  /** Reserves the estimate in every shared budget of the agent, or in none. */
  reserve(request: LedgerReservation): Promise<LedgerResult>;
  /** Charges every shared budget of the agent. */
  settle(request: LedgerCharge): Promise<void>;
  /** Watches for the next charge by this process, until `stop` is called. */
  watchCharge(): ChargeWatch;
}

export interface ChargeWatch {
  /** Resolves after the charge. Stays pending after `stop`. */
  readonly charged: Promise<void>;
  readonly stop: () => void;
}

interface LedgerEntry extends Omit<BudgetOwner, "scope"> {
  readonly sessionId: string;
  readonly invocationId: string;
  readonly budgets: AgentBudgets;
}

export interface LedgerReservation extends LedgerEntry {
  readonly estimate: BudgetAmounts;
  readonly raisedCaps: readonly RaisedCap[];
  /** Milliseconds until others ignore the reservation. */
  readonly ttlMs: number;
}

export interface LedgerCharge extends LedgerEntry {
  readonly amounts: BudgetAmounts;
}

export type LedgerResult =
  | {
      readonly status: "reserved";
      readonly levels: readonly BudgetLevel[];
      /** Number of tool calls reserved in every budget. Absent for an invocation. */
      readonly toolCalls?: number;
    }
  | { readonly status: "reached"; readonly level: BudgetLevel }
  | { readonly status: "busy" };

export function createBudgetLedger(store: RecordStore, clock: Pick<Clock, "now">): BudgetLedger {
  const update = createRecordUpdater(store);
  const waiters = new Set<() => void>();
  return {
    async reserve(request) {
      const levels: BudgetLevel[] = [];
      let { toolCalls } = request.estimate;
      const isForTools = toolCalls > 0;
      const reservedScopes: SharedScope[] = [];
      for (const scope of listScopes(request.budgets)) {
        const { result, levels: found } = await reserveIn(scope, request, { update, clock });
        if (result.status === "reserved") {
          reservedScopes.push(scope);
          levels.push(...found);
          toolCalls = Math.min(toolCalls, result.toolCalls);
          continue;
        }
        for (const earlier of reservedScopes)
          await update({ ...request, scope: earlier }, (record) => releaseBudget(record, request));
        if (result.status === "busy") return result;
        const { unit, used, cap } = result;
        return { status: "reached", level: { scope, unit, used, cap } };
      }
      return { status: "reserved", levels, ...(isForTools && { toolCalls }) };
    },
    async settle(request) {
      for (const scope of listScopes(request.budgets)) {
        const now = clock.now();
        await update({ ...request, scope }, (record) => settleBudget(record, { ...request, now }));
      }
      for (const resume of waiters) resume();
      waiters.clear();
    },
    watchCharge() {
      let stop = (): void => {};
      const charged = new Promise<void>((resolve) => {
        waiters.add(resolve);
        stop = () => void waiters.delete(resolve);
      });
      return { charged, stop };
    },
  };
}

/** Changes a record. `change` returns the same record if nothing is to be written. */
type UpdateRecord = (
  owner: BudgetOwner,
  change: (record: BudgetRecord) => BudgetRecord,
) => Promise<void>;

/** Runs changes of one record one after another: parallel ones would only make each other fail. */
function createRecordUpdater(store: RecordStore): UpdateRecord {
  const tails = new Map<string, Promise<unknown>>();
  return (owner, change) => {
    const key = createBudgetKey(owner);
    const done = (tails.get(key) ?? Promise.resolve()).then(() =>
      changeRecord(store, { owner, key }, change),
    );
    const tail = done
      .catch(() => undefined)
      .finally(() => {
        if (tails.get(key) === tail) tails.delete(key);
      });
    tails.set(key, tail);
    return done;
  };
}

/** Repeats the change while other processes change the record. */
async function changeRecord(
  store: RecordStore,
  { owner, key }: { readonly owner: BudgetOwner; readonly key: string },
  change: (record: BudgetRecord) => BudgetRecord,
): Promise<void> {
  for (;;) {
    const stored = await store.readRecord(BUDGET_RECORDS, key);
    const before = readBudgetRecord(stored?.value);
    const value = change(before);
    if (value === before) return;
    const write = { value: toJson(value), expectedVersion: stored?.version ?? null };
    const expiry = owner.scope === "principal" ? {} : { expiresAt: computeExpiry(owner.day) };
    const outcome = await store.putRecord(BUDGET_RECORDS, key, { ...write, ...expiry });
    if (outcome.status === "stored") return;
  }
}

interface LedgerContext {
  readonly update: UpdateRecord;
  readonly clock: Pick<Clock, "now">;
}

async function reserveIn(
  scope: SharedScope,
  request: LedgerReservation,
  { update, clock }: LedgerContext,
): Promise<{ readonly result: ReserveResult; readonly levels: readonly BudgetLevel[] }> {
  const { agent, principal, day, budgets, raisedCaps, ttlMs } = request;
  const owner = { scope, agent, principal, day };
  let result: ReserveResult = { status: "busy" };
  let levels: readonly BudgetLevel[] = [];
  await update(owner, (before) => {
    const now = clock.now();
    const raised = Object.fromEntries(
      raisedCaps.filter((entry) => isRaisedFor(entry, owner)).map(({ unit, cap }) => [unit, cap]),
    );
    const caps = budgets[scope] ?? {};
    result = reserveBudget(before, { ...request, caps, raised, now, expiresAt: now + ttlMs });
    if (result.status !== "reserved") return before;
    levels = listLevels(scope, before.used, result.caps);
    return result.record;
  });
  return { result, levels };
}

function listScopes(budgets: AgentBudgets): readonly SharedScope[] {
  return SHARED_SCOPES.filter((scope) => hasCaps(budgets[scope]));
}

function isRaisedFor({ scope, principal, day }: RaisedCap, owner: BudgetOwner): boolean {
  if (scope !== owner.scope) return false;
  return (principal ?? owner.principal) === owner.principal && (day ?? owner.day) === owner.day;
}

function listLevels(
  scope: SharedScope,
  used: BudgetAmounts,
  caps: { readonly [name: string]: number },
): readonly BudgetLevel[] {
  return BUDGET_UNITS.flatMap((unit) => {
    const cap = caps[unit];
    return cap === undefined ? [] : [{ scope, unit, used: used[unit], cap }];
  });
}

/** A day stays readable for reports. */
function computeExpiry(day: string): number {
  return Date.parse(`${day}T00:00:00Z`) + KEPT_DAYS * 86_400_000;
}

const KEPT_DAYS = 32;

function toJson(value: BudgetRecord): JsonValue {
  return JSON.parse(JSON.stringify(value));
}
