import { omitUndefined } from "../../data/omit-undefined.ts";
import type { Actor } from "../../domain/actor.ts";
import { SHARED_SCOPES, type BudgetAmounts, type BudgetLevel } from "../../domain/budget.ts";
import type { BudgetExtended, BudgetReserved } from "../../domain/events/budget-events.ts";
import type { Draft } from "../../domain/events/envelope.ts";
import type { SessionEvent } from "../../domain/events/session-event.ts";
import type { InvocationFinished, InvocationLost } from "../../domain/events/turn-events.ts";
import type { CompactionEndReason } from "../../domain/events/transcript-events.ts";
import type { CompactionPolicy } from "../../domain/transcript/compaction.ts";
import type { Usage } from "../../domain/usage.ts";
import { formatDay } from "../../text/format-iso-time.ts";
import type { Worker } from "../../domain/workers/worker.ts";
import type { ConfiguredAgent } from "../session-input.ts";
import { BUDGET_REMINDER_KEY, createReminderKey } from "./budget-text.ts";
import {
  isForToolCalls,
  measureTurnSeconds,
  type BudgetsState,
  type Charge,
  type Reservation,
  type TurnClock,
  addAmounts,
  estimatePrice,
  hasSharedBudgets,
  isEmptyAmounts,
  NO_AMOUNTS,
  subtractAmounts,
} from "./budgets-state.ts";
import { estimateInvocation } from "./estimate-invocation.ts";

/** The parts of the state on which budgets depend, before the event. */
interface BudgetContext {
  readonly agent: ConfiguredAgent | null;
  readonly principal: string;
  readonly turn: {
    readonly current:
      | (TurnClock & { readonly submitter: Actor | null; readonly turnId: string })
      | null;
  };
  readonly workers: { readonly open: readonly Worker[] };
  readonly transcript: {
    readonly running: { readonly policy: Pick<CompactionPolicy, "strategy"> } | null;
    readonly estimatedTokens: number;
  };
}

export function evolveBudgets(
  budgets: BudgetsState,
  { event, at }: Draft,
  context: BudgetContext,
): BudgetsState {
  switch (event.type) {
    case "turn.started":
      return {
        ...budgets,
        turn: NO_AMOUNTS,
        raisedCaps: budgets.raisedCaps.filter(({ scope }) => scope !== "turn"),
        remindedKeys: budgets.remindedKeys.filter((key) => !isTurnKey(key)),
        reached: null,
      };
    case "tool.started":
      return event.attempt === 1 ? countToolCall(budgets, context) : budgets;
    case "invocation.started":
      return addUsed({ ...budgets, reported: NOTHING_REPORTED }, { invocations: 1 }, context);
    case "usage.reported":
      return { ...budgets, reported: addReported(budgets, event.usage, context) };
    case "invocation.finished":
    case "invocation.lost":
      return endInvocation(budgets, event, { at, context });
    case "turn.finished": {
      const withSeconds = addUsed(budgets, countSeconds(budgets, at, context), context);
      return {
        ...chargeTurnEnd(withSeconds, { turnId: event.turnId, at }, context),
        reached: null,
      };
    }
    case "compaction.started":
      // The previous attempt was lost with its process.
      return event.attempt === 1 ? budgets : countLostSummary(budgets, context);
    case "transcript.compacted":
      return countSummary(budgets, event.usage, context);
    case "compaction.ended":
      return LOST_SUMMARIES.has(event.reason)
        ? countLostSummary(budgets, context)
        : countSummary(budgets, event.usage ?? null, context);
    case "budget.settled": {
      const uncharged = subtractAmounts(budgets.uncharged, event.amounts);
      return chargeRest({ ...budgets, charge: null, uncharged }, budgets.charge, context);
    }
    case "worker.waiting_for_input":
    case "worker.completed":
    case "worker.stopped":
      return addWorkerUsage(budgets, event.workerId, event.result.usage, context);
    case "worker.failed":
    case "worker.closed":
      return addWorkerUsage(budgets, event.workerId, event.usage, context);
    default:
      return evolveDecisions(budgets, event);
  }
}

/**
 * Adds what a worker's session has used since the last report to the budgets of this session. The session of the worker
 * charges the shared budgets itself. Its time passes in parallel, so seconds are not added.
 */
function addWorkerUsage(
  budgets: BudgetsState,
  workerId: string,
  usage: BudgetAmounts,
  { workers, turn: { current } }: BudgetContext,
): BudgetsState {
  const worker = workers.open.find((entry) => entry.workerId === workerId);
  if (worker === undefined) return budgets;
  const used = { ...subtractAmounts(usage, worker.usage), seconds: 0 };
  const isOfTurn = current !== null && worker.turnId === current.turnId;
  return {
    ...budgets,
    session: addAmounts(budgets.session, used),
    turn: isOfTurn ? addAmounts(budgets.turn, used) : budgets.turn,
  };
}

function evolveDecisions(budgets: BudgetsState, event: SessionEvent): BudgetsState {
  switch (event.type) {
    case "budget.requested": {
      const { type: _, ...request } = event;
      const reservation = { ...request, status: "requested", round: 0, toolCalls: 0 } as const;
      return { ...startCharge(budgets, budgets.uncharged), reservation };
    }
    case "budget.reserved":
      return applyReserved(budgets, event);
    case "budget.reached": {
      const { scope, unit, used, cap } = event;
      const refused = isRequested(budgets)
        ? withReservation(budgets, { status: "refused" })
        : budgets;
      return { ...refused, reached: { scope, unit, used, cap } };
    }
    case "approval.requested":
      return event.question === "budget" && event.worker === undefined && budgets.reached !== null
        ? { ...budgets, reached: { ...budgets.reached, approvalId: event.approvalId } }
        : budgets;
    case "approval.resolved":
      return budgets.reached?.approvalId === event.approvalId
        ? { ...budgets, reached: { ...budgets.reached, decision: event.decision } }
        : budgets;
    case "budget.extended":
      return raiseCap(budgets, event);
    case "reminder.queued": {
      const { source, dedupeKey = "" } = event.reminder;
      const isOurs = source === "stdlib_provider" && dedupeKey.startsWith(BUDGET_REMINDER_KEY);
      return isOurs ? { ...budgets, remindedKeys: [...budgets.remindedKeys, dedupeKey] } : budgets;
    }
    default:
      return budgets;
  }
}

/** The agent is reminded again of the budget of another principal or day. */
function applyReserved(budgets: BudgetsState, { levels, toolCalls = 0 }: BudgetReserved) {
  const { reservation, shared: previous, remindedKeys } = budgets;
  const { principal = "", day = "" } = reservation ?? {};
  const isOther = previous?.principal !== principal || previous.day !== day;
  return {
    ...withReservation(budgets, { status: "granted", toolCalls }),
    shared: { principal, day, levels },
    remindedKeys: isOther ? remindedKeys.filter((key) => !isSharedKey(key)) : remindedKeys,
  };
}

function isSharedKey(key: string): boolean {
  return SHARED_SCOPES.some((scope) => key.startsWith(`${BUDGET_REMINDER_KEY}${scope}.`));
}

function isTurnKey(key: string): boolean {
  return key.startsWith(`${BUDGET_REMINDER_KEY}turn.`);
}

function isRequested({ reservation }: BudgetsState): boolean {
  return reservation?.status === "requested";
}

function withReservation(budgets: BudgetsState, change: Partial<Reservation>): BudgetsState {
  const { reservation } = budgets;
  return reservation === null
    ? budgets
    : { ...budgets, reservation: { ...reservation, ...change } };
}

function addUsed(
  budgets: BudgetsState,
  amounts: Partial<BudgetAmounts>,
  { agent }: BudgetContext,
): BudgetsState {
  const { session, turn, uncharged } = budgets;
  const isCharged = hasSharedBudgets(agent?.spec.budgets);
  return {
    ...budgets,
    session: addAmounts(session, amounts),
    turn: addAmounts(turn, amounts),
    uncharged: isCharged ? addAmounts(uncharged, amounts) : uncharged,
  };
}

/** Counts the invocations for a summary as one. The shared budgets are charged with the next invocation. */
function countSummary(
  budgets: BudgetsState,
  usage: Usage | null,
  context: BudgetContext,
): BudgetsState {
  if (usage === null) return budgets;
  return addUsed(budgets, { ...measureUsage(usage, context.agent), invocations: 1 }, context);
}

/** Why a compaction ended during a summary whose usage the session never received. */
const LOST_SUMMARIES: ReadonlySet<CompactionEndReason> = new Set([
  "too_many_attempts",
  "timeout",
  "cancelled",
]);

/**
 * Counts a summary without a response. The model may have read the whole conversation, so its estimated tokens count.
 * Nothing counts without budgets, like for a lost invocation.
 */
function countLostSummary(budgets: BudgetsState, context: BudgetContext): BudgetsState {
  const { running, estimatedTokens: tokens } = context.transcript;
  const hasSummary = running !== null && running.policy.strategy !== "truncate";
  if (!hasSummary || context.agent?.spec.budgets === undefined) return budgets;
  const usage = { ...NO_USAGE, inputTokens: tokens, totalTokens: tokens };
  return countSummary(budgets, usage, context);
}

const NO_USAGE: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  totalTokens: 0,
};

function countToolCall(budgets: BudgetsState, context: BudgetContext): BudgetsState {
  const next = changeLevels(addUsed(budgets, { toolCalls: 1 }, context), (level) =>
    level.unit === "toolCalls" ? { ...level, used: level.used + 1 } : level,
  );
  const { reservation } = next;
  if (reservation === null || !isForToolCalls(reservation)) return next;
  const toolCalls = reservation.toolCalls - 1;
  return toolCalls > 0 ? withReservation(next, { toolCalls }) : startCharge(next, next.uncharged);
}

function changeLevels(
  budgets: BudgetsState,
  change: (level: BudgetLevel) => BudgetLevel,
): BudgetsState {
  const { shared } = budgets;
  return shared === null
    ? budgets
    : { ...budgets, shared: { ...shared, levels: shared.levels.map(change) } };
}

/** The part of the turn's time which is not counted yet. */
function countSeconds(
  { turn }: BudgetsState,
  at: number,
  context: BudgetContext,
): Partial<BudgetAmounts> {
  const { current } = context.turn;
  if (current === null) return {};
  return { seconds: Math.max(0, measureTurnSeconds(current, at) - turn.seconds) };
}

const NOTHING_REPORTED = { tokens: 0, usd: 0 };

function addReported(
  { reported }: BudgetsState,
  usage: Usage,
  { agent }: BudgetContext,
): BudgetsState["reported"] {
  const { tokens, usd } = measureUsage(usage, agent);
  return { tokens: reported.tokens + tokens, usd: reported.usd + usd };
}

function measureUsage(usage: Usage, agent: ConfiguredAgent | null): BudgetsState["reported"] {
  const prices = agent?.spec.budgets?.prices;
  const usd = prices === undefined ? 0 : toAmount(estimatePrice(usage, prices));
  return { tokens: toAmount(usage.totalTokens), usd };
}

/**
 * The amounts of an ended invocation. An invocation without a proper end counts with the tokens reported so far. Without
 * a report their number is unknown, so the estimate counts.
 */
function readAmounts(
  budgets: BudgetsState,
  event: InvocationFinished | InvocationLost,
  { agent }: BudgetContext,
): Partial<BudgetAmounts> {
  const { budgets: configured } = agent?.spec ?? {};
  const usage = event.type === "invocation.finished" ? event.usage : null;
  if (usage !== null) return measureUsage(usage, agent);
  const isCut =
    event.type === "invocation.lost" || event.outcome === "cancelled" || event.outcome === "failed";
  if (!isCut || configured === undefined) return {};
  if (budgets.reported.tokens > 0) return budgets.reported;
  const { tokens, usd } = estimateInvocation(budgets.lastInvocation, configured);
  return { tokens, usd };
}

/** A provider may be anyone's code, so each number is checked. */
function toAmount(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? Math.max(0, value) : 0;
}

function endInvocation(
  budgets: BudgetsState,
  event: InvocationFinished | InvocationLost,
  { at, context }: { readonly at: number; readonly context: BudgetContext },
): BudgetsState {
  const used = {
    ...readAmounts(budgets, event, context),
    ...countSeconds(budgets, at, context),
  };
  const next = addUsed(budgets, used, context);
  const lastInvocation = addAmounts(NO_AMOUNTS, { ...used, invocations: 1 });
  return startCharge({ ...next, lastInvocation }, next.uncharged);
}

function startCharge(budgets: BudgetsState, amounts: BudgetAmounts): BudgetsState {
  const { reservation } = budgets;
  if (reservation === null) return budgets;
  const { invocationId, principal, day } = reservation;
  return { ...budgets, reservation: null, charge: { invocationId, principal, day, amounts } };
}

/**
 * Charges what the turn has used since the last charge. Releases the reservation of an invocation or of tool calls which
 * never started: the store may already contain the reservation, even if the log does not.
 */
function chargeTurnEnd(
  budgets: BudgetsState,
  { turnId, at }: { readonly turnId: string; readonly at: number },
  { agent, principal: opener, turn }: BudgetContext,
): BudgetsState {
  const { reservation, charge, uncharged } = budgets;
  // A reservation is made after the pending charge, so the store does not contain this one yet.
  if (charge !== null) return { ...budgets, reservation: null };
  if (reservation !== null) return startCharge(budgets, uncharged);
  if (!hasSharedBudgets(agent?.spec.budgets) || isEmptyAmounts(uncharged)) return budgets;
  const principal = turn.current?.submitter?.principal ?? opener;
  const owner = { invocationId: turnId, principal, day: formatDay(at) };
  return { ...budgets, charge: { ...owner, amounts: uncharged } };
}

/** Charges what a turn used after its last charge had started. */
function chargeRest(
  budgets: BudgetsState,
  settled: Charge | null,
  { turn }: BudgetContext,
): BudgetsState {
  const { uncharged: amounts } = budgets;
  if (settled === null || turn.current !== null || isEmptyAmounts(amounts)) return budgets;
  const invocationId = `${settled.invocationId}/rest`;
  return { ...budgets, charge: { ...settled, invocationId, amounts } };
}

function raiseCap(
  budgets: BudgetsState,
  { scope, unit, cap, principal, day }: BudgetExtended,
): BudgetsState {
  const { reservation, raisedCaps, remindedKeys } = budgets;
  const raised = { scope, unit, cap, ...omitUndefined({ principal, day }) };
  const others = raisedCaps.filter((entry) => entry.scope !== scope || entry.unit !== unit);
  const isRefused = reservation?.status === "refused";
  const again = { status: "requested", round: (reservation?.round ?? 0) + 1 } as const;
  const next = changeLevels(isRefused ? withReservation(budgets, again) : budgets, (level) =>
    level.scope === scope && level.unit === unit ? { ...level, cap } : level,
  );
  return {
    ...next,
    raisedCaps: [...others, raised],
    reached: null,
    remindedKeys: remindedKeys.filter((key) => key !== createReminderKey(scope, unit)),
  };
}
