import { describe, expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../../src/platform/clock.ts";
import type { Agent } from "../../../src/session/runtime/agent/agent.ts";
import {
  createSessions,
  type RunningSessions,
} from "../../../src/session/runtime/create-sessions.ts";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import type { SessionRecord } from "../../../src/store/session-index.ts";
import type { Store } from "../../../src/store/store.ts";
import { opened, temporaryFile } from "../../store/sqlite-support.ts";
import { eventually } from "../../support/eventually.ts";
import { createGate } from "../../support/gate.ts";
import {
  createScriptedProvider,
  hangs,
  says,
  wants,
  type ScriptedProvider,
} from "../../support/session/scripted-provider.ts";
import { createAgent, ME, readUntil } from "../../support/session/session-world.ts";
import { createBoss, delegates } from "../../support/session/worker-world.ts";

const STORES: readonly (readonly [string, () => Promise<Store>])[] = [
  ["memory", async () => createMemoryStore()],
  ["sqlite", () => opened({ file: temporaryFile() })],
];

const FROM = { principal: ME };
const TASK = { type: "delegate", task: "Go", isBackground: true, isRetriggerable: false } as const;

function startSessions(store: Store, ...agents: Agent[]): RunningSessions {
  const sessions = createSessions({ store, agents, clock: systemClock, owner: "test" });
  onTestFinished(() => sessions.close());
  return sessions;
}

function createHelper(provider: ScriptedProvider): Agent {
  return createAgent({ name: "helper", provider, onLost: "resend" });
}

async function listAll(store: Store): Promise<readonly SessionRecord[]> {
  return (await store.listSessions({ limit: 1000 })).sessions;
}

async function readLog(store: Store, sessionId: string) {
  return (await store.read(sessionId, 0, 100_000)).map(({ event }) => event);
}

/** Every worker of a session has exactly one session with one prompt. */
async function expectOneSessionEach(store: Store, sessionId: string, count: number) {
  const log = await readLog(store, sessionId);
  const spawned = log.flatMap((event) => (event.type === "worker.spawned" ? [event] : []));
  const children = (await listAll(store)).filter(({ lineage }) => lineage !== null);
  expect(children.map((child) => child.sessionId).toSorted()).toEqual(
    spawned.map((event) => event.sessionId).toSorted(),
  );
  expect(children).toHaveLength(count);
  for (const child of children) {
    const prompts = (await readLog(store, child.sessionId)).filter(
      ({ type }) => type === "prompt.accepted",
    );
    expect(prompts).toHaveLength(1);
  }
}

describe.each(STORES)("Many workers at once in a store in %s", (_, createStore) => {
  it("200 delegations of one message have one session each, and the turn ends with all results", async () => {
    const store = await createStore();
    const calls = Array.from({ length: 200 }, (_each, at) => ({
      id: `d${at}`,
      name: "delegate",
      input: { task: `Task ${at}` },
    }));
    const boss = createBoss([wants(...calls), says("Done.")], {
      workers: { maxOpen: 200 },
      caps: { toolCalls: 300, parallelTools: 200 },
    });
    const helper = createHelper(createScriptedProvider([says("Result.")]));
    const sessions = startSessions(store, boss, helper);
    const { sessionId } = await sessions.open(FROM);
    await sessions.command(
      sessionId,
      { type: "prompt", content: [{ type: "text", text: "Go" }] },
      FROM,
    );
    let closed = 0;
    await readUntil(sessions, sessionId, ({ event }) => {
      if (event.type === "worker.closed") closed += 1;
      return closed === 200;
    });
    await readUntil(sessions, sessionId, ({ event }) => event.type === "turn.finished");
    const endings = (await readLog(store, sessionId)).flatMap((event) =>
      event.type === "tool.finished" ? [event.ending] : [],
    );
    expect(endings).toEqual(Array.from({ length: 200 }, () => "succeeded"));
    await expectOneSessionEach(store, sessionId, 200);
    expect((await listAll(store)).map(({ state }) => state)).toEqual(
      Array.from({ length: 201 }, () => "idle"),
    );
  });

  it("200 commands at once start the allowed number of workers, and a repeated command starts none", async () => {
    const store = await createStore();
    const helper = createHelper(createScriptedProvider([hangs()]));
    const sessions = startSessions(store, createBoss([says("Hi")]), helper);
    const { sessionId } = await sessions.open(FROM);
    const replies = await Promise.all(
      Array.from({ length: 200 }, (_each, at) =>
        sessions.command(sessionId, TASK, { ...FROM, commandId: `cmd_${at % 20}` }),
      ),
    );
    const accepted = replies.filter(({ status }) => status === "accepted");
    const ids = new Set(accepted.map((reply) => "workerId" in reply && reply.workerId));
    expect(ids.size).toBe(8);
    expect(accepted).toHaveLength(80);
    await eventually(async () => expect(await listAll(store)).toHaveLength(9));
    await sessions.command(sessionId, { type: "end-work" }, FROM);
    await eventually(async () =>
      expect((await listAll(store)).map(({ state }) => state)).toEqual(
        Array.from({ length: 9 }, () => "idle"),
      ),
    );
    await expectOneSessionEach(store, sessionId, 8);
  });
});

describe("Deep recursion", () => {
  it("An agent which delegates to itself forever stops at the limit, and a cancel at the root ends all levels", async () => {
    const store = createMemoryStore();
    const provider = createScriptedProvider([
      (signal, call) => {
        const isRefused = JSON.stringify(call.input).includes("levels deep");
        return (isRefused ? hangs() : delegates({ task: "Deeper" }))(signal, call);
      },
    ]);
    const workers = { agents: [{ name: "boss" }], maxDepth: 10 };
    const sessions = startSessions(store, { ...createBoss([], { workers }), provider });
    const { sessionId } = await sessions.open(FROM);
    const content = [{ type: "text", text: "Go" }] as const;
    await sessions.command(sessionId, { type: "prompt", content }, FROM);
    await eventually(async () => expect(await listAll(store)).toHaveLength(11));
    await sessions.command(sessionId, { type: "cancel" }, FROM);
    await readUntil(sessions, sessionId, ({ event }) => event.type === "worker.closed");
    const all = await listAll(store);
    expect(all.map(({ state }) => state)).toEqual(Array.from({ length: 11 }, () => "idle"));
    expect(all.map(({ lineage }) => lineage?.depth ?? 0).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 11 }, (_each, at) => at),
    );
  });
});

describe("The deletion of a session which is in use", () => {
  it("A worker whose session is opened again during the deletion is deleted, too", async () => {
    const store = createMemoryStore();
    const gate = createGate();
    let rootId = "";
    let isDeleting = false;
    let lookups = 0;
    const raced = new Proxy(store, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== "function") return value;
        return (...given: readonly unknown[]): unknown => {
          const call = (): unknown => Reflect.apply(value, target, given);
          const isLookup = isDeleting && name === "findSession" && given[0] !== rootId;
          if (isLookup) lookups += 1;
          if (isLookup) return gate.pass().then(call);
          return name === "deleteSession" && !isDeleting ? deleteInUse(call) : call();
        };
      },
    });
    const deleteInUse = async (call: () => unknown): Promise<unknown> => {
      isDeleting = true;
      await sessions.status(rootId);
      await eventually(() => expect(lookups).toBe(1));
      const deleted = await call();
      gate.open();
      return deleted;
    };
    const helper = createHelper(createScriptedProvider([hangs()]));
    const sessions = startSessions(raced, createBoss([says("Hi")]), helper);
    ({ sessionId: rootId } = await sessions.open(FROM));
    await sessions.command(rootId, TASK, FROM);
    await eventually(async () => expect(await listAll(store)).toHaveLength(2));
    expect(await sessions.delete(rootId)).toBe(true);
    await sessions.close();
    expect(await listAll(store)).toEqual([]);
  });
});

describe.each(STORES)("The deletion of a tree in a store in %s", (_, createStore) => {
  it("No session is left if the root is deleted while workers start and others read the tree", async () => {
    for (let round = 0; round < 20; round++) {
      const store = await createStore();
      const middle = createBoss([delegates({ task: "Deeper" })], { name: "middle" });
      const boss = createBoss([says("Hi")], { workers: { agents: [{ name: "middle" }] } });
      const helper = createHelper(createScriptedProvider([hangs()]));
      const sessions = startSessions(store, boss, middle, helper);
      const { sessionId } = await sessions.open(FROM);
      const commands = Array.from({ length: 5 }, () => sessions.command(sessionId, TASK, FROM));
      if (round % 2 === 0) await Promise.all(commands);
      for (let tick = 0; tick < round; tick++) await Promise.resolve();
      const reads = Array.from({ length: 20 }, async () => {
        for (const session of await listAll(store)) await sessions.status(session.sessionId);
      });
      const deletion = sessions.delete(sessionId);
      await Promise.allSettled([...commands, ...reads, deletion]);
      expect(await deletion).toBe(true);
      await sessions.close();
      expect((await listAll(store)).map((session) => session.sessionId)).toEqual([]);
    }
  });
});
