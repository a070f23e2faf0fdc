import { afterEach, describe, expect, it } from "vitest";
import type {
  EventOf,
  SessionEvent,
  SessionEventType,
} from "../../../src/domain/events/session-event.ts";
import { readBudgetRecord } from "../../../src/session/budgets/budget-record.ts";
import type { RunningSessions } from "../../../src/session/runtime/create-sessions.ts";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { createDyingStore, type Kill } from "../../support/session/dying-store.ts";
import { createScriptedProvider, says, wants } from "../../support/session/scripted-provider.ts";
import {
  createAgent,
  createTool,
  ME,
  openSessions,
  readUntil,
} from "../../support/session/session-world.ts";
import { addAmounts, NO_AMOUNTS } from "../../../src/session/budgets/budgets-state.ts";

const usage = { inputTokens: 400, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
const END = { usage: { ...usage, totalTokens: 400 } };

function createWorkingAgent() {
  const calls = wants({ id: "c1", name: "look" });
  const provider = createScriptedProvider([
    async function* (signal, call) {
      for await (const event of calls(signal, call))
        yield event.type === "end" ? { ...event, ...END } : event;
    },
    says("Done.", END),
  ]);
  const look = createTool({ name: "look", idempotent: true }, () => "seen");
  const budgets = { principal: { tokens: 300 }, day: { invocations: 1, toolCalls: 9 } };
  return createAgent({ provider, tools: [look], budgets, onLost: "continue" });
}

const open: RunningSessions[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((sessions) => sessions.close()));
});

function start(store: Store): RunningSessions {
  const sessions = openSessions(store, createWorkingAgent());
  open.push(sessions);
  return sessions;
}

/** Approves every question until the turn has ended and every reservation is settled. */
async function playToEnd(
  sessions: RunningSessions,
  sessionId: string,
  log: readonly SessionEvent[],
): Promise<void> {
  // The session has to continue without a command, because a command would load the session.
  const resolved = new Set(list(log, "approval.resolved").map(({ approvalId }) => approvalId));
  const unsettled = new Set<string>();
  let isOver = false;
  const take = (event: SessionEvent): void => {
    if (event.type === "budget.requested") unsettled.add(event.invocationId);
    if (event.type === "budget.settled") unsettled.delete(event.invocationId);
    if (event.type === "turn.finished") isOver = true;
    if (event.type !== "approval.requested" || resolved.has(event.approvalId)) return;
    const { approvalId } = event;
    const command = { type: "decide-approval", approvalId, decision: "continue" } as const;
    sessions.command(sessionId, command, { principal: ME }).catch(() => undefined);
  };
  await readUntil(sessions, sessionId, ({ event }) => {
    take(event);
    return isOver && unsettled.size === 0;
  });
}

const CONTENT = [{ type: "text", text: "Go" }] as const;

/** Plays a turn in a process which dies at a write, and ends the turn in another process. */
async function play(kill: Kill | undefined) {
  const store = createMemoryStore();
  const first = start(store);
  const { sessionId } = await first.open({ principal: ME });
  await first.close();
  const dying = createDyingStore(store, kill);
  const killed = start(dying.store);
  const commandId = "cmd_1";
  const prompt = { type: "prompt", content: CONTENT } as const;
  const from = { principal: ME, commandId };
  if (kill === undefined) {
    await killed.command(sessionId, prompt, from);
    await playToEnd(killed, sessionId, []);
  } else {
    await killed.command(sessionId, prompt, from).catch(() => undefined);
    await Promise.race([playToEnd(killed, sessionId, []).catch(() => undefined), dying.death]);
    const next = start(store);
    await next.resumeInterrupted();
    // A session with a logged prompt continues by itself.
    const events = await readLog(store, sessionId);
    if (list(events, "prompt.accepted").length === 0) await next.command(sessionId, prompt, from);
    await playToEnd(next, sessionId, events);
  }
  const log = await readLog(store, sessionId);
  const { records } = await store.listRecords({ scope: "budget", limit: 10 });
  const budgets = records.map(({ value }) => readBudgetRecord(value));
  return { log, budgets, writes: dying.countWrites() };
}

async function readLog(store: Store, sessionId: string): Promise<readonly SessionEvent[]> {
  return (await store.read(sessionId, 0, 1000)).map(({ event }) => event);
}

/** The events of a type. */
function list<Type extends SessionEventType>(
  log: readonly SessionEvent[],
  type: Type,
): EventOf<Type>[] {
  return log.filter((event): event is EventOf<Type> => event.type === type);
}

async function expectKept(kill: Kill): Promise<void> {
  const { log, budgets } = await play(kill);
  const name = `killed ${kill.when} write ${kill.write}`;
  expect(list(log, "turn.finished"), name).toMatchObject([{ outcome: "completed" }]);
  const started = list(log, "invocation.started").map(({ invocationId }) => invocationId);
  const settled = list(log, "budget.settled");
  expect(new Set(settled.map(({ invocationId }) => invocationId)).size, name).toBe(settled.length);
  const sums = settled.reduce((sum, { amounts }) => addAmounts(sum, amounts), NO_AMOUNTS);
  const runs = list(log, "tool.started").filter(({ attempt }) => attempt === 1);
  expect(sums, name).toMatchObject({ invocations: started.length, toolCalls: runs.length });
  const { tokens, usd, toolCalls, invocations } = sums;
  // The budget of the principal and the budget of the day are both charged once, and no reservation stays open.
  expect(budgets, name).toMatchObject([
    { used: { tokens, usd, toolCalls, invocations } },
    { used: { tokens, usd, toolCalls, invocations } },
  ]);
  const entries = budgets.flatMap(({ sessions }) => Object.values(sessions));
  expect(
    entries.filter(({ isSettled }) => isSettled !== true),
    name,
  ).toEqual([]);
}

describe("A turn with shared budgets in a process which is killed", () => {
  it("A turn charges every invocation once if its process is killed before or after any write", async () => {
    const { writes, log } = await play(undefined);
    expect(list(log, "budget.extended").length).toBeGreaterThan(1);
    expect(writes).toBeGreaterThan(15);
    for (let write = 1; write <= writes; write++) {
      await expectKept({ write, when: "before" });
      await expectKept({ write, when: "after" });
    }
  });
});
