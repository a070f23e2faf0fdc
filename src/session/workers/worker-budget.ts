import type { WorkersSpec } from "../../domain/agent-spec.ts";
import {
  BUDGET_UNITS,
  LOCAL_SCOPES,
  type BudgetCaps,
  type BudgetUnit,
} from "../../domain/budget.ts";
import { listLevels } from "../budgets/budget-levels.ts";
import type { Decision } from "../decision.ts";
import { measureReservedAmounts, type Worker } from "../../domain/workers/worker.ts";
import { listActiveWorkers } from "./workers-state.ts";

type BudgetReservation =
  | { readonly status: "reserved"; readonly caps: BudgetCaps | undefined }
  | { readonly status: "refused"; readonly message: string };

/**
 * Computes the caps of a worker's session. Where the session itself has a budget, the caps reserve a part of it: either
 * the requested amount, or an equal share for each worker which can still be opened. The use of the session and the
 * caps of its open workers together therefore never exceed the budget.
 */
export function reserveBudget(
  decision: Decision,
  { maxOpen, budget = {} }: WorkersSpec,
  requested: BudgetCaps = {},
): BudgetReservation {
  const freePlaces = Math.max(1, maxOpen - listActiveWorkers(decision.state.workers).length);
  const entries: [BudgetUnit, number][] = [];
  for (const unit of BUDGET_UNITS) {
    const remaining = measureRemaining(decision, unit);
    if (remaining <= 0) {
      const message = `No ${unit} of the session's budget are left for a worker. Fix: extend the budget, or do the work without a worker`;
      return { status: "refused", message };
    }
    const requestedCap = Math.min(requested[unit] ?? Infinity, budget[unit] ?? Infinity);
    // Time passes for all workers at once, so seconds are not divided.
    const isDivided = requestedCap === Infinity && unit !== "seconds";
    const cap = Math.min(requestedCap, isDivided ? divide(unit, remaining, freePlaces) : remaining);
    if (cap !== Infinity) entries.push([unit, cap]);
  }
  return {
    status: "reserved",
    caps: entries.length === 0 ? undefined : Object.fromEntries(entries),
  };
}

/**
 * Returns why a worker cannot start a further cycle in the running turn: the rest of its caps exceeds the rest of the
 * turn's budget. The budget of the session has reserved the caps since the first cycle. Undefined if the cycle can start.
 */
export function findBudgetShortage(decision: Decision, worker: Worker): string | undefined {
  const { current } = decision.state.turn;
  if (current === null || worker.turnId === current.turnId) return undefined;
  const rest = measureReservedAmounts([worker]);
  const turnLevels = listLevels(decision).filter(({ scope }) => scope === "turn");
  const short = turnLevels.find(({ unit, used, cap }) => (rest[unit] ?? 0) > cap - used);
  if (short === undefined) return undefined;
  const { unit, used, cap } = short;
  return `The worker may still use ${rest[unit]} ${unit}, and ${Math.max(0, cap - used)} of the turn's budget are left. Fix: trigger the worker in another turn`;
}

/** Infinity without a budget of this unit. */
function measureRemaining(decision: Decision, unit: BudgetUnit): number {
  const scopes = decision.state.turn.current === null ? LOCAL_SCOPES.slice(1) : LOCAL_SCOPES;
  const levels = listLevels(decision).filter(
    (level) => level.unit === unit && scopes.some((scope) => scope === level.scope),
  );
  return Math.min(Infinity, ...levels.map(({ used, cap }) => cap - used));
}

function divide(unit: BudgetUnit, remaining: number, parts: number): number {
  const share = remaining / parts;
  return unit === "usd" ? share : Math.max(1, Math.floor(share));
}
