import { describe, expect, it, onTestFinished } from "vitest";
import type { SessionEvent } from "../../../src/domain/events/session-event.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import {
  BUDGET_RECORDS,
  createBudgetKey,
  readBudgetRecord,
} from "../../../src/session/budgets/budget-record.ts";
import { createBudgetLedger } from "../../../src/session/runtime/effects/budget-ledger.ts";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { opened, temporaryFile } from "../../store/sqlite-support.ts";
import { createScriptedProvider, says } from "../../support/session/scripted-provider.ts";
import { createAgent, ME, openSessions, readUntil } from "../../support/session/session-world.ts";
import { allowLongTests } from "../../support/test-depth.ts";
import { NO_AMOUNTS } from "../../../src/session/budgets/budgets-state.ts";

allowLongTests();

const STORES: readonly (readonly [string, () => Promise<Store>])[] = [
  ["memory", async () => createMemoryStore()],
  ["sqlite", () => opened({ file: temporaryFile() })],
];

const SESSIONS = 50;
const TOKENS = 100;
const CAP = 2500;

async function readUsed(store: Store, agent: string) {
  const key = createBudgetKey({ scope: "principal", agent, principal: "me", day: "" });
  const { used, sessions } = readBudgetRecord((await store.readRecord(BUDGET_RECORDS, key))?.value);
  const open = Object.values(sessions).filter(({ isSettled }) => isSettled !== true);
  return { used, open };
}

describe.each(STORES)("50 sessions which share a budget in a store in %s", (_, create) => {
  it("Parallel turns use the whole budget, do not exceed it, and every further turn asks", async () => {
    const store = await create();
    const usage = { inputTokens: TOKENS, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
    const answer = says("Done.", { usage: { ...usage, totalTokens: TOKENS } });
    const provider = createScriptedProvider([answer]);
    const budgets = { principal: { tokens: CAP } };
    const sessions = openSessions(store, createAgent({ provider, budgets }));
    onTestFinished(() => sessions.close());
    const outcomes = await Promise.all(
      Array.from({ length: SESSIONS }, async () => {
        const { sessionId } = await sessions.open({ principal: ME });
        const content = [{ type: "text", text: "Go" }] as const;
        await sessions.command(sessionId, { type: "prompt", content }, { principal: ME });
        let outcome = "";
        const take = (event: SessionEvent): void => {
          if (event.type === "turn.finished") outcome = event.reason ?? event.outcome;
          if (event.type !== "approval.requested") return;
          const { approvalId } = event;
          const denial = { type: "decide-approval", approvalId, decision: "stop" } as const;
          sessions.command(sessionId, denial, { principal: ME }).catch(() => undefined);
        };
        await readUntil(sessions, sessionId, ({ event }) => {
          take(event);
          return event.type === "budget.settled";
        });
        return outcome;
      }),
    );
    const { used, open } = await readUsed(store, "demo");
    expect(open).toEqual([]);
    const finished = outcomes.filter((outcome) => outcome === "end_turn").length;
    expect(used).toMatchObject({ tokens: finished * TOKENS, invocations: finished });
    expect(used.tokens).toBeGreaterThanOrEqual(CAP);
    expect(used.tokens).toBeLessThan(CAP + TOKENS);
    expect(outcomes.filter((outcome) => outcome === "budget_tokens")).toHaveLength(
      SESSIONS - finished,
    );
    expect(provider.invocations).toHaveLength(finished);
  });

  it("Reservations and charges of several processes are never lost", async () => {
    const store = await create();
    const ledgers = Array.from({ length: 5 }, () => createBudgetLedger(store, systemClock));
    const budgets = { principal: { tokens: 1_000_000 }, day: { tokens: 1_000_000 } };
    const work = Array.from({ length: SESSIONS }, async (_each, at) => {
      const ledger = ledgers[at % ledgers.length];
      if (ledger === undefined) throw new Error("The ledger does not exist");
      for (let step = 0; step < 3; step++) {
        const entry = {
          sessionId: `ses_${at}`,
          invocationId: `inv_${at}_${step}`,
          agent: "demo",
          principal: "me",
          day: "2026-11-18",
          budgets,
        };
        const estimate = { ...NO_AMOUNTS, tokens: 10, invocations: 1 };
        const reservation = { ...entry, estimate, raisedCaps: [], ttlMs: 60_000 };
        expect(await ledger.reserve(reservation)).toMatchObject({ status: "reserved" });
        await ledger.settle({ ...entry, amounts: { ...NO_AMOUNTS, tokens: 7, invocations: 1 } });
      }
    });
    await Promise.all(work);
    expect(await readUsed(store, "demo")).toMatchObject({
      used: { tokens: SESSIONS * 3 * 7, invocations: SESSIONS * 3 },
      open: [],
    });
  });
});
