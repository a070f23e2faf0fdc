import { afterEach, describe, expect, it } from "vitest";
import type { Envelope } from "../../../src/domain/events/envelope.ts";
import type { EventOf, SessionEventType } from "../../../src/domain/events/session-event.ts";
import type { Agent } from "../../../src/session/runtime/agent/agent.ts";
import {
  createSessions,
  type RunningSessions,
} from "../../../src/session/runtime/create-sessions.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { createDyingStore, type Kill } from "../../support/session/dying-store.ts";
import {
  createScriptedProvider,
  says,
  wants,
  type ProviderScript,
} from "../../support/session/scripted-provider.ts";
import { createAgent, createTool, ME, readUntil } from "../../support/session/session-world.ts";
import { createBoss } from "../../support/session/worker-world.ts";

/** A response by the content of the invocation, so a repeated invocation gets the same response. */
function createBossScript(): ProviderScript {
  return (signal, call) => {
    const text = JSON.stringify(call.input);
    const script = text.includes("How many")
      ? wants(
          { id: "d1", name: "delegate", input: { task: "Count the files" } },
          { id: "d2", name: "delegate", input: { task: "Count the folders" } },
        )
      : says("Done.");
    return script(signal, call);
  };
}

function createHelper(runs: string[]): Agent {
  const look = createTool({ name: "look", idempotent: true }, (_, { sessionId }) => {
    runs.push(sessionId);
    return "seen";
  });
  const script: ProviderScript = (signal, call) => {
    const isFirst = JSON.stringify(call.input).includes("Count");
    return (isFirst ? wants({ id: "l1", name: "look" }) : says("Counted."))(signal, call);
  };
  const provider = createScriptedProvider([script]);
  return createAgent({ name: "helper", provider, tools: [look], onLost: "continue" });
}

const open: RunningSessions[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((sessions) => sessions.close()));
});

function start(store: Store): RunningSessions {
  const boss = createBoss([createBossScript()], { onLost: "continue" });
  const agents = [boss, createHelper([])];
  const sessions = createSessions({ store, agents, clock: systemClock, owner: "test" });
  open.push(sessions);
  return sessions;
}

const PROMPT = { type: "prompt", content: [{ type: "text", text: "How many?" }] } as const;

/** Waits until the turn has ended and every worker is closed. */
async function playToEnd(sessions: RunningSessions, sessionId: string): Promise<void> {
  const openWorkers = new Set<string>();
  let isOver = false;
  await readUntil(sessions, sessionId, ({ event }) => {
    if (event.type === "worker.spawned") openWorkers.add(event.workerId);
    if (event.type === "worker.closed") openWorkers.delete(event.workerId);
    if (event.type === "turn.finished") isOver = true;
    return isOver && openWorkers.size === 0;
  });
}

/** Plays a turn with two workers in a process which dies at a write, and ends the turn in another process. */
async function play(kill: Kill | undefined) {
  const store = createMemoryStore();
  const first = start(store);
  const { sessionId } = await first.open({ principal: ME });
  await first.close();
  const dying = createDyingStore(store, kill);
  const killed = start(dying.store);
  const from = { principal: ME, commandId: "cmd_1" };
  if (kill === undefined) {
    await killed.command(sessionId, PROMPT, from);
    await playToEnd(killed, sessionId);
  } else {
    await killed.command(sessionId, PROMPT, from).catch(() => undefined);
    await Promise.race([playToEnd(killed, sessionId).catch(() => undefined), dying.death]);
    const next = start(store);
    await next.resumeInterrupted();
    const events = await store.read(sessionId, 0, 1000);
    if (list(events, "prompt.accepted").length === 0) await next.command(sessionId, PROMPT, from);
    await playToEnd(next, sessionId);
  }
  const { sessions } = await store.listSessions({ limit: 10, parent: sessionId });
  const children = await Promise.all(
    sessions.map(async (record) => ({
      record,
      log: await store.read(record.sessionId, 0, 1000),
    })),
  );
  return { log: await store.read(sessionId, 0, 1000), children, writes: dying.countWrites() };
}

function list<Type extends SessionEventType>(
  log: readonly Envelope[],
  type: Type,
): EventOf<Type>[] {
  return log.flatMap(({ event }) => (event.type === type ? [event as EventOf<Type>] : []));
}

async function expectWhole(kill: Kill): Promise<void> {
  const { log, children } = await play(kill);
  const name = `killed ${kill.when} write ${kill.write}`;
  expect(list(log, "turn.finished"), name).toMatchObject([{ outcome: "completed" }]);
  const spawned = list(log, "worker.spawned");
  // A lost invocation is restated, so the agent may delegate again: each worker still has one session.
  expect(children.map(({ record }) => record.sessionId).sort(), name).toEqual(
    spawned.map(({ sessionId }) => sessionId).sort(),
  );
  const ended = log.filter(({ event }) => event.type === "worker.completed").length;
  expect(ended, name).toBe(spawned.length);
  expect(list(log, "worker.closed").length, name).toBe(spawned.length);
  // A waiting call is not interrupted by a kill, so no call has a second attempt.
  expect(
    list(log, "tool.started").filter(({ attempt }) => attempt > 1),
    name,
  ).toEqual([]);
  for (const child of children) {
    expect(list(child.log, "prompt.accepted").length, name).toBe(1);
    expect(list(child.log, "turn.finished"), name).toMatchObject([{ outcome: "completed" }]);
    expect(child.record.state, name).toBe("idle");
  }
}

describe("A turn with workers in a process which is killed", () => {
  it("Every worker has one session with one prompt if its process is killed before or after any write", async () => {
    const { writes, children } = await play(undefined);
    expect(children).toHaveLength(2);
    expect(writes).toBeGreaterThan(25);
    for (let write = 1; write <= writes; write++) {
      await expectWhole({ write, when: "before" });
      await expectWhole({ write, when: "after" });
    }
  });
});
