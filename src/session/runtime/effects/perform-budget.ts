import { guardInvocation } from "../../../async/invocation-guard.ts";
import { waitUnlessAborted } from "../../../async/pause.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { Effect } from "../../due-effects.ts";
import type { SessionInput } from "../../session-input.ts";
import type { WriteRetry } from "../log/write-retry.ts";
import type { BudgetLedger, ChargeWatch } from "./budget-ledger.ts";

interface BudgetEffectContext {
  readonly sessionId: string;
  readonly ledger: BudgetLedger;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly send: (input: SessionInput) => Promise<unknown>;
  readonly retry: WriteRetry["retry"];
}

/**
 * Reserves a share of the shared budgets. While reservations of other sessions cover the rest of a budget, the effect
 * waits for their end: the budget is not used yet, so no approver is asked.
 */
export async function performReservation(
  effect: Extract<Effect, { type: "reserve-budget" }>,
  { sessionId, ledger, clock, signal, send, retry }: BudgetEffectContext,
): Promise<void> {
  const { invocationId, round } = effect;
  for (;;) {
    signal.throwIfAborted();
    // A charge during the reservation must not be missed.
    const watch = ledger.watchCharge();
    try {
      const result = await retry(() => ledger.reserve({ ...effect, sessionId }));
      if (result.status !== "busy") {
        if (signal.aborted) return;
        await send({ type: "budget-checked", invocationId, round, result });
        return;
      }
      await waitForCharge(watch, clock, signal);
    } finally {
      watch.stop();
    }
  }
}

/** Other processes charge without a notification, so the wait is limited. */
async function waitForCharge(
  { charged }: ChargeWatch,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const guard = guardInvocation(clock, signal, { limit: "wait", milliseconds: MAX_WAIT_MS });
  try {
    await waitUnlessAborted(charged, guard.signal);
  } catch (error) {
    if (guard.reachedLimit === null) throw error;
  } finally {
    guard.release();
  }
}

const MAX_WAIT_MS = 1000;

/** Charges the shared budgets with an ended invocation. */
export async function performSettlement(
  effect: Extract<Effect, { type: "settle-budget" }>,
  { sessionId, ledger, send, retry }: BudgetEffectContext,
): Promise<void> {
  await retry(() => ledger.settle({ ...effect, sessionId }));
  await send({ type: "budget-settled", invocationId: effect.invocationId });
}
