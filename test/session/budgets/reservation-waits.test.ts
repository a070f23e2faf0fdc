import { describe, expect, it } from "vitest";
import { NO_AMOUNTS } from "../../../src/session/budgets/budgets-state.ts";
import {
  createBudgetLedger,
  type BudgetLedger,
} from "../../../src/session/runtime/effects/budget-ledger.ts";
import { performReservation } from "../../../src/session/runtime/effects/perform-budget.ts";
import type { SessionInput } from "../../../src/session/session-input.ts";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import { eventually } from "../../support/eventually.ts";
import { createFakeClock } from "../../support/fake-clock.ts";

const ENTRY = {
  agent: "demo",
  principal: "me",
  day: "2026-11-18",
  budgets: { principal: { tokens: 1000 } },
};
const RESERVATION = { ...ENTRY, estimate: { ...NO_AMOUNTS, tokens: 1000 }, raisedCaps: [] };
const FIRST = { sessionId: "ses_1", invocationId: "inv_1" };

/** A ledger with counts of its watches and of the attempts to reserve. */
function countWatches(ledger: BudgetLedger) {
  const counts = { open: 0, attempts: 0 };
  const counting: BudgetLedger = {
    ...ledger,
    reserve(request) {
      counts.attempts += 1;
      return ledger.reserve(request);
    },
    watchCharge() {
      const { charged, stop } = ledger.watchCharge();
      counts.open += 1;
      return {
        charged,
        stop() {
          counts.open -= 1;
          stop();
        },
      };
    },
  };
  return { counts, counting };
}

/** A reservation which waits, because the first session has reserved the whole budget. */
async function startWaiting() {
  const clock = createFakeClock();
  const ledger = createBudgetLedger(createMemoryStore(), clock);
  await ledger.reserve({ ...RESERVATION, ...FIRST, ttlMs: 3_600_000 });
  const { counts, counting } = countWatches(ledger);
  const controller = new AbortController();
  const inputs: SessionInput[] = [];
  const invocationId = "inv_2";
  const done = performReservation(
    { type: "reserve-budget", ...RESERVATION, invocationId, round: 0, ttlMs: 3_600_000 },
    {
      sessionId: "ses_2",
      ledger: counting,
      clock,
      signal: controller.signal,
      send: async (input) => void inputs.push(input),
      retry: (write) => write(),
    },
  );
  const waitForAttempt = (count: number): Promise<void> =>
    eventually(() => {
      expect(counts.attempts).toBe(count);
      expect(clock.pending).toBe(1);
    });
  await waitForAttempt(1);
  return { ledger, clock, counts, controller, inputs, done, waitForAttempt };
}

describe("A reservation which waits for other sessions", () => {
  it("A wait of many seconds keeps one watch, and the charge ends the wait and the watch", async () => {
    const { ledger, clock, counts, inputs, done, waitForAttempt } = await startWaiting();
    for (let attempt = 2; attempt <= 20; attempt++) {
      clock.advance(1000);
      await waitForAttempt(attempt);
      expect(counts.open).toBe(1);
    }
    await ledger.settle({ ...ENTRY, ...FIRST, amounts: { ...NO_AMOUNTS, tokens: 10 } });
    await done;
    expect(inputs).toMatchObject([{ type: "budget-checked", result: { status: "reserved" } }]);
    expect([counts.open, clock.pending]).toEqual([0, 0]);
  });

  it("An abort ends the wait and its watch", async () => {
    const { clock, counts, controller, inputs, done } = await startWaiting();
    controller.abort(new Error("The turn was cancelled"));
    await expect(done).rejects.toThrow("The turn was cancelled");
    expect([counts.open, clock.pending, inputs]).toEqual([0, 0, []]);
  });

  it("A stopped watch gets no charge", async () => {
    const ledger = createBudgetLedger(createMemoryStore(), createFakeClock());
    const charged: string[] = [];
    const [stopped, kept] = [ledger.watchCharge(), ledger.watchCharge()];
    void stopped.charged.then(() => charged.push("stopped"));
    const isCharged = kept.charged.then(() => charged.push("kept"));
    stopped.stop();
    await ledger.settle({ ...ENTRY, ...FIRST, amounts: NO_AMOUNTS });
    await isCharged;
    expect(charged).toEqual(["kept"]);
  });
});
