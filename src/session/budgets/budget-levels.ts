import {
  BUDGET_UNITS,
  LOCAL_SCOPES,
  type BudgetAmounts,
  type BudgetCaps,
  type BudgetLevel,
  type BudgetScope,
  type BudgetUnit,
  type LocalScope,
} from "../../domain/budget.ts";
import { measureReservedAmounts } from "../../domain/workers/worker.ts";
import { readAgentSpec, type Decision } from "../decision.ts";
import { addAmounts, measureTurnSeconds, type BudgetsState } from "./budgets-state.ts";

/** The levels of all budgets of the running turn. Levels of shared budgets are as of the last reservation. */
export function listLevels(decision: Decision): readonly BudgetLevel[] {
  const { budgets } = decision.state;
  const used = measureLocalUse(decision);
  const local = LOCAL_SCOPES.flatMap((scope) => {
    const caps = resolveLocalCaps(decision, scope);
    return BUDGET_UNITS.flatMap((unit): BudgetLevel[] => {
      const configured = caps[unit];
      if (configured === undefined) return [];
      const cap = Math.max(configured, findRaisedCap(budgets, scope, unit));
      return [{ scope, unit, used: used[scope][unit], cap }];
    });
  });
  return [...local, ...(budgets.shared?.levels ?? [])];
}

/** The configured cap, on which the size of an extension depends. */
export function findConfiguredCap(
  decision: Decision,
  scope: BudgetScope,
  unit: BudgetUnit,
): number | undefined {
  const caps =
    scope === "turn" || scope === "session"
      ? resolveLocalCaps(decision, scope)
      : readAgentSpec(decision).budgets?.[scope];
  return caps?.[unit];
}

/** The budget of a prompt, or of a worker's session, can only be tighter than the agent's. */
function resolveLocalCaps(decision: Decision, scope: LocalScope): BudgetCaps {
  const { current } = decision.state.turn;
  const requested = scope === "turn" ? current?.options?.budget : decision.state.budgetCaps;
  return selectTighterCaps(readAgentSpec(decision).budgets?.[scope], requested);
}

/** The lower cap of both, for each unit. */
export function selectTighterCaps(
  configured: BudgetCaps = {},
  requested: BudgetCaps | undefined,
): BudgetCaps {
  if (requested === undefined) return configured;
  const caps = BUDGET_UNITS.map((unit) => {
    const cap = Math.min(configured[unit] ?? Infinity, requested[unit] ?? Infinity);
    return [unit, cap] as const;
  });
  return Object.fromEntries(caps.filter(([, cap]) => cap !== Infinity));
}

function findRaisedCap({ raisedCaps }: BudgetsState, scope: BudgetScope, unit: BudgetUnit): number {
  const raised = raisedCaps.find((entry) => entry.scope === scope && entry.unit === unit);
  return raised?.cap ?? 0;
}

/** Includes the time of the turn since the last invocation, and the amounts reserved for open workers. */
function measureLocalUse({ state, at }: Decision): { readonly [S in LocalScope]: BudgetAmounts } {
  const { current } = state.turn;
  const { open } = state.workers;
  const ownWorkers = open.filter(({ turnId }) => turnId === current?.turnId);
  const turn = addAmounts(state.budgets.turn, measureReservedAmounts(ownWorkers));
  const session = addAmounts(state.budgets.session, measureReservedAmounts(open));
  const seconds = current === null ? turn.seconds : measureTurnSeconds(current, at);
  const uncounted = Math.max(0, seconds - turn.seconds);
  return {
    turn: { ...turn, seconds: turn.seconds + uncounted },
    session: { ...session, seconds: session.seconds + uncounted },
  };
}
