import type {
  BudgetAmounts,
  BudgetLevel,
  BudgetScope,
  LocalScope,
  SharedScope,
} from "../../domain/budget.ts";
import type { BudgetExtended } from "../../domain/events/budget-events.ts";
import { isReservationEnding } from "../../domain/workers/worker.ts";
import { formatDay } from "../../text/format-iso-time.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";
import { requestApproval } from "../approvals/approval-requests.ts";
import { readAgentSpec, type Decision } from "../decision.ts";
import type { TimedInput } from "../session-input.ts";
import { queueRuntimeReminder } from "../steering/runtime-reminders.ts";
import { findConfiguredCap, listLevels } from "./budget-levels.ts";
import {
  createReminderKey,
  formatBudgetQuestion,
  formatBudgetReason,
  formatBudgetReminder,
  formatReachedReason,
} from "./budget-text.ts";
import {
  isForToolCalls,
  type ReachedBudget,
  hasSharedBudgets,
  hasSharedToolCap,
  NO_AMOUNTS,
} from "./budgets-state.ts";
import { estimateInvocation } from "./estimate-invocation.ts";

/**
 * - `admitted`: the invocation can start. `invocationId` is the id of its reservation. Absent without shared budgets.
 * - `waiting`: a reservation is being made, or an approver is asked.
 * - `denied`: the turn ends, with this reason.
 */
export type Admission =
  | { readonly status: "admitted"; readonly invocationId?: string }
  | { readonly status: "waiting" }
  | { readonly status: "denied"; readonly reason: string };

const ADMITTED = { status: "admitted" } as const;
const WAITING = { status: "waiting" } as const;

/**
 * Checks the budgets before an invocation. A reached budget pauses the turn and asks an approver. Without budgets, no
 * event is emitted.
 */
export function admitInvocation(decision: Decision): Admission {
  if (!hasBudgets(decision)) return ADMITTED;
  const verdict = resolveReached(decision);
  if (verdict !== undefined) return verdict;
  const reached = listLevels(decision).find(isReachedBeforeInvocation);
  if (reached !== undefined) return pauseTurn(decision, reached);
  const { budgets: configured } = readAgentSpec(decision);
  if (!hasSharedBudgets(configured)) return admit(decision);
  const { reservation, lastInvocation } = decision.state.budgets;
  const isOwn = reservation !== null && !isForToolCalls(reservation);
  if (isOwn && reservation.status === "granted") return admit(decision, reservation.invocationId);
  if (!isOwn) requestReservation(decision, estimateInvocation(lastInvocation, configured));
  return WAITING;
}

/** Whether the running turn has any budget. */
function hasBudgets(decision: Decision): boolean {
  const { current } = decision.state.turn;
  const ownCaps = Object.keys(decision.state.budgetCaps).length;
  const requested = current?.options?.budget;
  return readAgentSpec(decision).budgets !== undefined || requested !== undefined || ownCaps > 0;
}

/**
 * Excludes tool calls, which are checked at their start, and shared budgets, which are checked with the reservation.
 */
function isReachedBeforeInvocation({ scope, unit, used, cap }: BudgetLevel): boolean {
  return isLocalScope(scope) && unit !== "toolCalls" && used >= cap;
}

/** A pending charge is settled first, because the settlement frees the rest of the previous reservation. */
function requestReservation(decision: Decision, estimate: BudgetAmounts): void {
  const { state, at, ids } = decision;
  if (state.budgets.charge !== null) return;
  const { submitter } = state.turn.current ?? { submitter: null };
  decision.emit(
    {
      type: "budget.requested",
      invocationId: ids.next("inv"),
      principal: submitter?.principal ?? state.principal,
      day: formatDay(at),
      estimate,
    },
    null,
  );
}

type CheckedInput = Extract<TimedInput, { readonly type: "budget-checked" }>;

/** Applies the result of a reservation. A result for another reservation is ignored. */
export function applyReservation(
  decision: Decision,
  { invocationId, round, result }: CheckedInput,
): void {
  const { reservation } = decision.state.budgets;
  const isExpected =
    reservation?.invocationId === invocationId &&
    reservation.round === round &&
    reservation.status === "requested";
  if (!isExpected) return;
  if (result.status === "reached") return void pauseTurn(decision, result.level);
  const { levels, toolCalls } = result;
  decision.emit({
    type: "budget.reserved",
    invocationId,
    levels,
    ...omitUndefined({ toolCalls }),
  });
}

type SettledInput = Extract<TimedInput, { readonly type: "budget-settled" }>;

export function applySettlement(decision: Decision, { invocationId }: SettledInput): void {
  const { charge } = decision.state.budgets;
  if (charge?.invocationId !== invocationId) return;
  decision.emit({ type: "budget.settled", invocationId, amounts: charge.amounts });
}

/** Returns how many tool calls the turn can start within the budgets of the turn and the session. Infinity without budgets. */
export function countToolStarts(decision: Decision): number {
  if (!hasBudgets(decision)) return Infinity;
  const remainingCalls = listToolLevels(decision).map(({ used, cap }) => cap - used);
  return Math.max(0, Math.floor(Math.min(Infinity, ...remainingCalls)));
}

/** The number of tool calls which can start with the reservation of the turn. Infinity without a shared budget of tool calls. */
export function countReservedStarts({ state }: Decision): number {
  if (!hasSharedToolCap(state.agent?.spec.budgets)) return Infinity;
  const { reservation } = state.budgets;
  return reservation !== null && isForToolCalls(reservation) ? reservation.toolCalls : 0;
}

/**
 * Pauses the turn because its next tool call cannot start, or reserves `unreserved` tool calls in the shared budgets.
 * Undefined if neither is needed.
 */
export function admitToolStart(decision: Decision, unreserved: number): Admission | undefined {
  const verdict = resolveReached(decision);
  if (verdict !== undefined) return verdict;
  const reached = listToolLevels(decision).find(({ used, cap }) => cap - used < 1);
  if (reached !== undefined) return pauseTurn(decision, reached);
  if (unreserved === 0) return undefined;
  if (decision.state.budgets.reservation === null)
    requestReservation(decision, { ...NO_AMOUNTS, toolCalls: unreserved });
  return WAITING;
}

/** Excludes shared budgets, which are checked with the reservation. */
function listToolLevels(decision: Decision): readonly BudgetLevel[] {
  return listLevels(decision).filter(
    ({ scope, unit }) => isLocalScope(scope) && unit === "toolCalls",
  );
}

function isLocalScope(scope: BudgetScope): scope is LocalScope {
  return scope === "turn" || scope === "session";
}

function pauseTurn(decision: Decision, { scope, unit, used, cap }: BudgetLevel): Admission {
  if (isLocalScope(scope) && decision.state.workers.open.some(isReservationEnding)) return WAITING;
  decision.emit({ type: "budget.reached", scope, unit, used, cap });
  return resolveReached(decision) ?? WAITING;
}

/** Asks about a reached budget, and applies the decision. Undefined if no budget is reached, or its cap was raised. */
function resolveReached(decision: Decision): Admission | undefined {
  const { reached } = decision.state.budgets;
  if (reached === null) return undefined;
  if (reached.approvalId === undefined) {
    requestExtension(decision, reached);
    return WAITING;
  }
  if (reached.decision === undefined) return WAITING;
  if (reached.decision !== "continue")
    return { status: "denied", reason: formatBudgetReason(reached.unit) };
  const { scope, unit, used } = reached;
  const cap = used + computeExtension(decision, reached);
  decision.emit({ type: "budget.extended", scope, unit, cap, ...findOwner(decision, scope) }, null);
  return undefined;
}

/**
 * Returns the owner of the budget to raise: a principal, a day or both. Empty for the budgets of a turn or a session.
 */
function findOwner(
  { state }: Decision,
  scope: BudgetScope,
): Pick<BudgetExtended, "principal" | "day"> {
  const owner = state.budgets.reservation ?? state.budgets.shared;
  if (isLocalScope(scope) || owner === null) return {};
  const { principal, day } = owner;
  return OWNERS[scope]({ principal, day });
}

const OWNERS: {
  readonly [Scope in SharedScope]: (owner: {
    readonly principal: string;
    readonly day: string;
  }) => Pick<BudgetExtended, "principal" | "day">;
} = {
  principal: ({ principal }) => ({ principal }),
  day: ({ day }) => ({ day }),
  principalDay: ({ principal, day }) => ({ principal, day }),
};

function computeExtension(decision: Decision, { scope, unit, cap }: BudgetLevel): number {
  const configured = findConfiguredCap(decision, scope, unit) ?? cap;
  const share = configured * (readAgentSpec(decision).budgets?.extend ?? 1);
  return unit === "usd" || unit === "seconds" ? share : Math.max(1, Math.ceil(share));
}

function requestExtension(decision: Decision, reached: ReachedBudget): void {
  const { turnId = "" } = decision.state.turn.current ?? {};
  requestApproval(decision, {
    question: "budget",
    options: ["continue", "stop"],
    subjectId: turnId,
    action: formatBudgetQuestion(reached, computeExtension(decision, reached)),
    input: null,
    decision: {
      action: "ask",
      reason: formatReachedReason(reached),
      rule: null,
      labels: ["approval_required", "budget_reached"],
      context: {
        tool: "continue_turn",
        kind: "other",
        sideEffect: "network",
        paths: [],
        capabilities: [],
        repeats: 0,
      },
      approvers: 1,
    },
  });
}

/** Lets the invocation start. Reminds the agent of budgets which are nearly used, once per cap. */
function admit(decision: Decision, invocationId?: string): Admission {
  for (const level of listLevels(decision)) {
    const { scope, unit, used, cap } = level;
    const dedupeKey = createReminderKey(scope, unit);
    const isNear = used >= cap * REMINDER_SHARE;
    if (!isNear || decision.state.budgets.remindedKeys.includes(dedupeKey)) continue;
    queueRuntimeReminder(decision, {
      body: formatBudgetReminder(level),
      tags: ["budget"],
      dedupeKey,
      ttlTurns: 1,
      roleHint: "system",
    });
  }
  return invocationId === undefined ? ADMITTED : { status: "admitted", invocationId };
}

const REMINDER_SHARE = 0.8;
