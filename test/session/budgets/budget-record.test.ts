import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { BudgetAmounts } from "../../../src/domain/budget.ts";
import {
  readBudgetRecord,
  releaseBudget,
  reserveBudget,
  settleBudget,
  type BudgetRecord,
  type ReserveRequest,
} from "../../../src/session/budgets/budget-record.ts";
import { MAX_RECORD_BYTES } from "../../../src/store/record-store.ts";
import { runs } from "../../support/test-depth.ts";
import { NO_AMOUNTS } from "../../../src/session/budgets/budgets-state.ts";

const EMPTY = readBudgetRecord(undefined);

function request(changes: Partial<ReserveRequest> = {}): ReserveRequest {
  return {
    sessionId: "ses_1",
    invocationId: "inv_1",
    estimate: { ...NO_AMOUNTS, tokens: 100 },
    caps: { tokens: 1000 },
    raised: {},
    now: 0,
    expiresAt: 60_000,
    ...changes,
  };
}

function reserved(before: BudgetRecord, changes: Partial<ReserveRequest> = {}): BudgetRecord {
  const result = reserveBudget(before, request(changes));
  if (result.status !== "reserved") throw new Error(`Not reserved: ${JSON.stringify(result)}`);
  return result.record;
}

function tokens(amount: number): BudgetAmounts {
  return { ...NO_AMOUNTS, tokens: amount };
}

/** A step of a turn. Several turns run in parallel. */
type Move = { readonly turn: number; readonly estimate: number; readonly real: number };

const anyMove: fc.Arbitrary<Move> = fc.record({
  turn: fc.integer({ min: 0, max: 5 }),
  estimate: fc.integer({ min: 1, max: 400 }),
  real: fc.integer({ min: 0, max: 600 }),
});

describe("Parallel turns on one budget", () => {
  it("In every interleaving, parallel turns use at most the cap plus one reservation and the settled differences", () => {
    fc.assert(
      fc.property(fc.array(anyMove, { maxLength: 60, size: "max" }), (moves) => {
        const cap = 1000;
        let record = EMPTY;
        let differences = 0;
        let largest = 0;
        let isWide = true;
        let count = 0;
        const open = new Map<number, { readonly id: string; readonly estimate: number }>();
        for (const { turn, estimate, real } of moves) {
          const sessionId = `ses_${turn}`;
          const running = open.get(turn);
          if (running === undefined) {
            count += 1;
            const invocationId = `inv_${count}`;
            const reservation = { sessionId, invocationId, estimate: tokens(estimate) };
            const result = reserveBudget(
              record,
              request({ ...reservation, caps: { tokens: cap } }),
            );
            if (result.status !== "reserved") continue;
            record = result.record;
            const { tokens: amount = 0 } = record.sessions[sessionId]?.amounts ?? {};
            isWide &&= amount >= estimate;
            largest = Math.max(largest, amount);
            open.set(turn, { id: invocationId, estimate: amount });
          } else {
            const settled = { sessionId, invocationId: running.id, amounts: tokens(real), now: 0 };
            record = settleBudget(record, settled);
            differences += Math.max(0, real - running.estimate);
            open.delete(turn);
          }
          const openEstimates = [...open.values()].reduce((sum, one) => sum + one.estimate, 0);
          expect(isWide, "a reservation has at least the estimate").toBe(true);
          // A reservation starts below the cap, so only the last reservation can exceed the cap.
          expect(record.used.tokens + openEstimates).toBeLessThan(cap + largest + differences);
        }
      }),
      { numRuns: runs(500) },
    );
  });

  it("A repeated reservation or charge changes nothing, at any point of any interleaving", () => {
    fc.assert(
      fc.property(fc.array(anyMove, { maxLength: 40 }), fc.nat(), (moves, seed) => {
        const play = (repeats: boolean): BudgetRecord => {
          let record = EMPTY;
          const open = new Map<number, string>();
          for (const [at, { turn, estimate, real }] of moves.entries()) {
            const sessionId = `ses_${turn}`;
            const id = open.get(turn);
            const times = repeats && (seed + at) % 3 === 0 ? 2 : 1;
            for (let time = 0; time < times; time++) {
              if (id === undefined) {
                const reservation = {
                  sessionId,
                  invocationId: `inv_${at}`,
                  estimate: tokens(estimate),
                };
                const result = reserveBudget(record, request(reservation));
                if (result.status !== "reserved") continue;
                record = result.record;
                open.set(turn, `inv_${at}`);
              } else {
                const charge = { sessionId, invocationId: id, amounts: tokens(real), now: 0 };
                record = settleBudget(record, charge);
                open.delete(turn);
              }
            }
          }
          return record;
        };
        expect(play(true)).toEqual(play(false));
      }),
      { numRuns: runs(300) },
    );
  });
});

/** Reserves for one session after another, until a reservation is refused. Returns the number of open reservations. */
function countParallelReservations(before: BudgetRecord, estimate: number, cap: number): number {
  let record = before;
  for (let count = 0; ; count++) {
    const entry = { sessionId: `ses_${count}`, invocationId: `inv_${count}` };
    const result = reserveBudget(
      record,
      request({ ...entry, estimate: tokens(estimate), caps: { tokens: cap } }),
    );
    if (result.status !== "reserved") return count;
    record = result.record;
  }
}

describe("Parallel turns with low estimates", () => {
  it("An invocation reserves at least the average of the earlier invocations, so parallel turns keep the cap", () => {
    const used = { ...NO_AMOUNTS, tokens: 50_000, invocations: 10 };
    const open = countParallelReservations({ ...EMPTY, used }, 100, 100_000);
    expect(open * 5000).toBe(50_000);
  });

  it("Before the first charge an invocation reserves a share of the rest, so few turns run in parallel", () => {
    expect(countParallelReservations(EMPTY, 2000, 100_000)).toBeLessThan(25);
    // The estimate is above the share.
    expect(countParallelReservations(EMPTY, 2000, 4000)).toBe(2);
  });

  it("The seconds and dollars of an invocation are reserved in the same way", () => {
    const caps = { seconds: 1000, usd: 4 };
    const first = reserved(EMPTY, { caps, estimate: { ...NO_AMOUNTS, seconds: 10, usd: 0.5 } });
    expect(first.sessions["ses_1"]?.amounts).toMatchObject({ tokens: 0, seconds: 125, usd: 0.5 });
    const used = { ...NO_AMOUNTS, seconds: 60, usd: 3, invocations: 4 };
    const later = reserved({ ...EMPTY, used }, { caps, estimate: { ...NO_AMOUNTS, usd: 0.5 } });
    expect(later.sessions["ses_1"]?.amounts).toMatchObject({ seconds: 15, usd: 0.75 });
  });
});

describe("The record of a budget", () => {
  it("A reservation which is charged never returns, even if an aborted attempt comes late", () => {
    const settled = settleBudget(reserved(EMPTY), {
      sessionId: "ses_1",
      invocationId: "inv_1",
      amounts: tokens(70),
      now: 1,
    });
    expect(settled.used.tokens).toBe(70);
    expect(reserveBudget(settled, request())).toMatchObject({
      status: "reserved",
      record: settled,
    });
  });

  it("The reservation of a session that never settles expires, and a late charge still counts", () => {
    const first = reserved(EMPTY, { estimate: tokens(1000) });
    const next = { sessionId: "ses_2", invocationId: "inv_2" };
    expect(reserveBudget(first, request(next))).toEqual({ status: "busy" });
    const after = reserved(first, { ...next, now: 60_000, expiresAt: 120_000 });
    expect(Object.keys(after.sessions)).toEqual(["ses_2"]);
    const late = { sessionId: "ses_1", invocationId: "inv_1", amounts: tokens(5), now: 60_001 };
    const charged = settleBudget(after, late);
    expect(charged.used.tokens).toBe(5);
    expect(settleBudget(charged, late)).toBe(charged);
  });

  it("A released reservation is gone, and a charge is not released", () => {
    const record = reserved(EMPTY);
    expect(releaseBudget(record, request()).sessions).toEqual({});
    const charge = { sessionId: "ses_1", invocationId: "inv_1", amounts: tokens(5), now: 0 };
    const charged = settleBudget(record, charge);
    expect(releaseBudget(charged, request())).toBe(charged);
  });

  it("A cap raised by one session holds for all", () => {
    const used = settleBudget(EMPTY, {
      sessionId: "ses_1",
      invocationId: "inv_1",
      amounts: tokens(1000),
      now: 0,
    });
    const next = { sessionId: "ses_2", invocationId: "inv_2" };
    expect(reserveBudget(used, request(next))).toEqual({
      status: "reached",
      unit: "tokens",
      used: 1000,
      cap: 1000,
    });
    const raised = reserved(used, { ...next, raised: { tokens: 2000 } });
    expect(
      reserveBudget(raised, request({ sessionId: "ses_3", invocationId: "inv_3" })),
    ).toMatchObject({ status: "reserved", caps: { tokens: 2000 } });
  });

  it("The largest record fits into the store", () => {
    let record = EMPTY;
    const amounts = { tokens: 12_345_678, seconds: 1234.567, toolCalls: 99, invocations: 1 };
    const estimate = { ...amounts, usd: 0.123_456_789_012_345_6 };
    const caps = { tokens: Number.MAX_SAFE_INTEGER };
    const name = (kind: string, at: number) => `${kind}_${String(at).padStart(26, "0")}`;
    for (let at = 0; at < 400; at++) {
      const entry = { sessionId: name("ses", at), invocationId: name("inv", at) };
      const times = { now: 1_800_000_000_000 + at, expiresAt: 1_900_000_000_000 };
      const result = reserveBudget(record, request({ ...entry, ...times, estimate, caps }));
      if (result.status !== "reserved") break;
      record = result.record;
      if (at < 200) record = settleBudget(record, { ...entry, amounts: estimate, now: times.now });
    }
    const open = Object.values(record.sessions).filter(({ isSettled }) => isSettled !== true);
    expect(open).toHaveLength(128);
    expect(Object.keys(record.sessions)).toHaveLength(256);
    expect(JSON.stringify(record).length).toBeLessThan(MAX_RECORD_BYTES);
    expect(readBudgetRecord(JSON.parse(JSON.stringify(record)))).toEqual(record);
  });
});
