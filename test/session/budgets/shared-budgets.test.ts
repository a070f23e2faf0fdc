import { describe, expect, it } from "vitest";
import type { AgentBudgets } from "../../../src/domain/budget.ts";
import type { SessionEvent } from "../../../src/domain/events/session-event.ts";
import type { TurnEnd } from "../../../src/domain/provider/provider-event.ts";
import type { Usage } from "../../../src/domain/usage.ts";
import { readBudgetRecord } from "../../../src/session/budgets/budget-record.ts";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { createGate } from "../../support/gate.ts";
import {
  createScriptedProvider,
  hangs,
  says,
  wants,
  type ProviderScript,
} from "../../support/session/scripted-provider.ts";
import {
  createAgent,
  createTool,
  openWorld,
  readUntil,
} from "../../support/session/session-world.ts";

function countTokens(total: number): Usage {
  const cacheTokens = { cacheReadTokens: 0, cacheWriteTokens: 0 };
  return { inputTokens: total, outputTokens: 0, ...cacheTokens, totalTokens: total };
}

function tokens(total: number): Pick<TurnEnd, "usage"> {
  return { usage: countTokens(total) };
}

function open(budgets: AgentBudgets, answers: readonly ProviderScript[], store?: Store) {
  const provider = createScriptedProvider(answers);
  const look = createTool({ name: "look" }, () => "seen");
  const agent = createAgent({ provider, tools: [look], budgets, onLost: "continue" });
  return openWorld(agent, store === undefined ? {} : { store });
}

/** The shared budgets of a store, by key. */
async function readBudgets(store: Store) {
  const { records } = await store.listRecords({ scope: "budget", limit: 100 });
  const entries = records.map(({ key, value }) => [key, readBudgetRecord(value)] as const);
  return Object.fromEntries(entries);
}

const PRINCIPAL_KEY = '["principal","demo","me"]';

async function readPrincipal(store: Store) {
  const { [PRINCIPAL_KEY]: record } = await readBudgets(store);
  if (record === undefined) throw new Error("The store has no budget of the principal");
  const open = Object.values(record.sessions).filter(({ isSettled }) => isSettled !== true);
  return { used: record.used, raised: record.raised, open };
}

describe("A budget of a principal", () => {
  it("An invocation reserves its estimate before it starts, and is charged with the reported tokens", async () => {
    const gate = createGate();
    const answer: ProviderScript = async function* (signal, call) {
      await gate.pass();
      yield* says("Done.", tokens(300))(signal, call);
    };
    const world = await open({ principal: { tokens: 10_000 } }, [answer]);
    await world.prompt("Go");
    await world.waitForEvent("invocation.started");
    expect(await readPrincipal(world.store)).toMatchObject({
      used: { tokens: 0 },
      open: [{ amounts: { tokens: 2000, invocations: 1 } }],
    });
    gate.open();
    await world.waitForEvent("budget.settled");
    expect(await readPrincipal(world.store)).toMatchObject({
      used: { tokens: 300, invocations: 1 },
      open: [],
    });
    const types = (await world.readLog()).map(({ event }) => event.type);
    const order = types.filter((type) => /^(budget|invocation|turn)\./.test(type));
    expect(order).toEqual([
      "turn.started",
      "budget.requested",
      "budget.reserved",
      "invocation.started",
      "invocation.finished",
      "turn.finished",
      "budget.settled",
    ]);
    const [requested] = await world.listEvents("budget.requested");
    const [started] = await world.listEvents("invocation.started");
    expect(requested?.invocationId).toBe(started?.invocationId);
  });

  it("Sessions share the budget of their principal, and an approval raises it for all", async () => {
    const store = createMemoryStore();
    const budgets = { principal: { tokens: 500 } };
    const first = await open(budgets, [says("One.", tokens(600))], store);
    await first.prompt("Go");
    await first.waitForEvent("budget.settled");
    const second = await open(budgets, [says("Two.", tokens(100))], store);
    await second.prompt("Go");
    const approval = await second.waitForEvent("approval.requested");
    expect(approval.action).toBe(
      "This user has used 600 of 500 tokens; continue with 500 more tokens?",
    );
    await second.decideApproval(approval.approvalId, "continue");
    await second.waitForEvent("budget.settled");
    expect(await second.listEvents("budget.extended")).toEqual([
      { type: "budget.extended", scope: "principal", unit: "tokens", cap: 1100, principal: "me" },
    ]);
    expect(await readPrincipal(store)).toMatchObject({
      used: { tokens: 700 },
      raised: { tokens: 1100 },
    });
    const third = await open(budgets, [says("Three.", tokens(100))], store);
    await third.prompt("Go");
    expect(await third.waitForEvent("turn.finished")).toMatchObject({ outcome: "completed" });
    expect(await third.listEvents("approval.requested")).toEqual([]);
  });

  it("A turn whose extension of a shared budget is denied ends as limited and reserves nothing", async () => {
    const store = createMemoryStore();
    const budgets = { principal: { invocations: 1 } };
    const world = await open(budgets, [says("One."), says("Two.")], store);
    await world.prompt("Go");
    await world.waitForEvent("budget.settled");
    await world.prompt("Again");
    const approval = await world.waitForEvent("approval.requested");
    await world.decideApproval(approval.approvalId, "stop");
    expect(await world.waitForEvent("turn.finished", 2)).toMatchObject({
      outcome: "limited",
      reason: "budget_invocations",
      steps: 0,
    });
    await world.waitForEvent("budget.settled", 2);
    expect(await readPrincipal(store)).toMatchObject({ used: { invocations: 1 }, open: [] });
  });

  it("A turn waits for the reservations of other sessions instead of asking", async () => {
    const store = createMemoryStore();
    const budgets = { principal: { tokens: 1500 } };
    const gate = createGate();
    const slow: ProviderScript = async function* (signal, call) {
      await gate.pass();
      yield* says("Slow.", tokens(100))(signal, call);
    };
    const first = await open(budgets, [slow], store);
    await first.prompt("Go");
    await first.waitForEvent("invocation.started");
    const second = await open(budgets, [says("Fast.", tokens(100))], store);
    await second.prompt("Go");
    await second.waitForEvent("budget.requested");
    // A further command: the log of the second session has grown, and still has no reservation.
    await second.send({ type: "set-title", title: "Waiting" });
    expect(await second.listEvents("budget.reserved")).toEqual([]);
    gate.open();
    expect(await second.waitForEvent("turn.finished")).toMatchObject({ outcome: "completed" });
    expect(await second.listEvents("budget.reached")).toEqual([]);
  });

  it("A cancelled turn releases its reservation, and the cancelled invocation counts with its estimate", async () => {
    const world = await open({ principal: { tokens: 100_000 } }, [hangs()]);
    await world.prompt("Go");
    await world.waitForEvent("message.started");
    await world.cancel();
    await world.waitForEvent("budget.settled");
    expect(await readPrincipal(world.store)).toMatchObject({
      used: { tokens: 2000, invocations: 1 },
      open: [],
    });
  });

  it("A cancelled invocation counts with the tokens which the provider had reported", async () => {
    const reports: ProviderScript = async function* (signal) {
      yield { type: "message.start", message: 0, role: "assistant" };
      yield { type: "usage", usage: countTokens(321) };
      yield { type: "usage", usage: countTokens(4) };
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    };
    const budgets = { principal: { tokens: 100_000 }, prices: { input: 2, output: 2 } };
    const world = await open(budgets, [reports]);
    await world.prompt("Go");
    await world.waitForEvent("usage.reported", 2);
    await world.cancel();
    await world.waitForEvent("budget.settled");
    expect(await readPrincipal(world.store)).toMatchObject({
      used: { tokens: 325, invocations: 1 },
      open: [],
    });
    expect((await readPrincipal(world.store)).used.usd).toBeCloseTo(0.000_65, 10);
  });
});

describe("A shared budget of tool calls", () => {
  const twoCalls = wants({ id: "c1", name: "look" }, { id: "c2", name: "look" });

  it("Tool calls are reserved before they start, and charged when they have started", async () => {
    const gate = createGate();
    const store = createMemoryStore();
    const provider = createScriptedProvider([twoCalls, says("Done.", tokens(10))]);
    const look = createTool({ name: "look" }, () => gate.pass());
    const budgets = { principal: { toolCalls: 5 } };
    const world = await openWorld(createAgent({ provider, tools: [look], budgets }), { store });
    await world.prompt("Go");
    await world.waitForEvent("budget.settled", 2);
    // Both tools still run.
    expect(await world.listEvents("tool.finished")).toEqual([]);
    expect(await readPrincipal(store)).toMatchObject({ used: { toolCalls: 2 }, open: [] });
    const types = (await world.readLog()).map(({ event }) => event.type);
    const order = types.filter((type) => /^(budget|invocation|tool)\.(?!process)/.test(type));
    expect(order).toEqual([
      "budget.requested",
      "budget.reserved",
      "invocation.started",
      "invocation.finished",
      "budget.settled",
      "budget.requested",
      "budget.reserved",
      "tool.started",
      "tool.started",
      "budget.settled",
    ]);
    expect((await world.listEvents("budget.reserved"))[1]).toMatchObject({ toolCalls: 2 });
    gate.open();
    await world.waitForEvent("turn.finished");
    await world.waitForEvent("budget.settled", 3);
    expect(await readPrincipal(store)).toMatchObject({
      used: { toolCalls: 2, invocations: 2 },
      open: [],
    });
  });

  it("Parallel turns never start more tool calls than the budget, and ask about each further call", async () => {
    const store = createMemoryStore();
    const budgets = { principal: { toolCalls: 5 } };
    const worlds = await Promise.all(
      Array.from({ length: 4 }, () => open(budgets, [twoCalls, says("Done.", tokens(10))], store)),
    );
    await Promise.all(worlds.map((world) => world.prompt("Go")));
    const outcomes = await Promise.all(
      worlds.map(async (world) => {
        const isOver = ({ type }: SessionEvent): boolean =>
          type === "turn.finished" || type === "approval.requested";
        const events = await readUntil(world.sessions, world.sessionId, ({ event }) =>
          isOver(event),
        );
        const last = events.at(-1)?.event;
        return last?.type === "approval.requested" ? last.action : "";
      }),
    );
    const started = await Promise.all(worlds.map((world) => world.listEvents("tool.started")));
    expect(started.flat()).toHaveLength(5);
    expect((await readPrincipal(store)).used.toolCalls).toBe(5);
    const question = "This user has used 5 of 5 tool calls; continue with 5 more tool calls?";
    // Three calls have no place, and a turn asks once for its calls.
    expect(outcomes.filter((action) => action === question)).toHaveLength(2);
  });

  it("A tool call which waits for an approver reserves nothing, so it delays no other session", async () => {
    const store = createMemoryStore();
    const provider = createScriptedProvider([wants({ id: "c1", name: "look" }), says("Done.")]);
    const look = createTool({ name: "look" }, () => "seen");
    const approvals = { deny: [], ask: ["look"], allow: [], default: "ask" } as const;
    const budgets = { principal: { toolCalls: 1 } };
    const agent = createAgent({ provider, tools: [look], budgets, approvals });
    const waiting = await openWorld(agent, { store });
    await waiting.prompt("Go");
    await waiting.waitForEvent("approval.requested");
    await waiting.waitForEvent("budget.settled");
    expect(await readPrincipal(store)).toMatchObject({ open: [] });
    const other = await open(budgets, [wants({ id: "c1", name: "look" }), says("Done.")], store);
    await other.prompt("Go");
    expect(await other.waitForEvent("turn.finished")).toMatchObject({ outcome: "completed" });
    const [approval] = await waiting.listEvents("approval.requested");
    await waiting.decideApproval(approval?.approvalId ?? "", "allow");
    expect(await waiting.waitForEvent("approval.requested", 2)).toMatchObject({
      question: "budget",
      action: "This user has used 1 of 1 tool call; continue with 1 more tool call?",
    });
    expect(await waiting.listEvents("tool.started")).toEqual([]);
  });

  it("The tool calls of a cancelled step are charged, and the calls which never started are released", async () => {
    const store = createMemoryStore();
    const provider = createScriptedProvider([twoCalls]);
    const look = createTool({ name: "look" }, () => new Promise(() => {}));
    const budgets = { principal: { toolCalls: 5 } };
    const caps = { parallelTools: 1 };
    const world = await openWorld(createAgent({ provider, tools: [look], budgets, caps }), {
      store,
    });
    await world.prompt("Go");
    await world.waitForEvent("tool.started");
    await world.cancel();
    await world.waitForEvent("turn.finished");
    await world.waitForEvent("budget.settled", 2);
    expect(await readPrincipal(store)).toMatchObject({ used: { toolCalls: 1 }, open: [] });
  });

  it("The end of a turn charges its seconds and tool calls since the last invocation", async () => {
    const clock = createFakeClock();
    const store = createMemoryStore();
    const provider = createScriptedProvider([wants({ id: "c1", name: "look" })]);
    const look = createTool({ name: "look" }, () => new Promise(() => {}));
    const budgets = { principal: { seconds: 1000 } };
    const world = await openWorld(createAgent({ provider, tools: [look], budgets }), {
      store,
      clock,
    });
    await world.prompt("Go");
    await world.waitForEvent("tool.started");
    await world.waitForEvent("budget.settled");
    clock.advance(7000);
    await world.cancel();
    await world.waitForEvent("budget.settled", 2);
    expect(await readPrincipal(store)).toMatchObject({
      used: { seconds: 7, toolCalls: 1, invocations: 1 },
      open: [],
    });
  });
});

describe("A budget of a day", () => {
  it("A daily budget has a record per day, and a daily budget per principal has one per principal and day", async () => {
    const world = await open({ day: { tokens: 1000 }, principalDay: { usd: 1 } }, [
      says("Done.", tokens(400)),
    ]);
    await world.prompt("Go");
    await world.waitForEvent("budget.settled");
    const [requested] = await world.listEvents("budget.requested");
    const day = requested?.day ?? "";
    expect(day).toMatch(/^\d{4}-\d\d-\d\d$/);
    expect(await readBudgets(world.store)).toMatchObject({
      [JSON.stringify(["day", "demo", day])]: { used: { tokens: 400 } },
      [JSON.stringify(["principalDay", "demo", day, "me"])]: { used: { tokens: 400 } },
    });
    const [record] = (await world.store.listRecords({ scope: "budget", limit: 1 })).records;
    expect(record?.expiresAt).toBe(Date.parse(`${day}T00:00:00Z`) + 32 * 86_400_000);
  });

  it("The agent is reminded of the budget of a day once per day", async () => {
    const clock = createFakeClock(Date.parse("2026-11-18T20:00:00Z"));
    const provider = createScriptedProvider([says("Done.", tokens(850))]);
    const agent = createAgent({ provider, budgets: { day: { tokens: 1000 } } });
    const world = await openWorld(agent, { clock });
    const remind = async (turn: number): Promise<number> => {
      await world.prompt("Go");
      await world.waitForEvent("budget.settled", turn);
      return (await world.listEvents("reminder.queued")).length;
    };
    expect(await remind(1)).toBe(0);
    expect(await remind(2)).toBe(1);
    clock.advance(86_400_000);
    expect(await remind(3)).toBe(1);
    expect(await remind(4)).toBe(2);
  });

  it("If one shared budget refuses a reservation, the reservations in the other budgets are released", async () => {
    const store = createMemoryStore();
    const budgets = { principal: { tokens: 100_000 }, day: { invocations: 1 } };
    const world = await open(budgets, [says("One.", tokens(10))], store);
    await world.prompt("Go");
    await world.waitForEvent("budget.settled");
    await world.prompt("Again");
    await world.waitForEvent("approval.requested");
    expect(await world.listEvents("budget.reached")).toMatchObject([
      { scope: "day", unit: "invocations", used: 1, cap: 1 },
    ]);
    expect(await readPrincipal(store)).toMatchObject({ open: [] });
  });
});
