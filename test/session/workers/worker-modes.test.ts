import { describe, expect, it, onTestFinished } from "vitest";
import { isLessStrict, type SessionMode } from "../../../src/domain/session-mode.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import type { Agent } from "../../../src/session/runtime/agent/agent.ts";
import {
  createSessions,
  type RunningSessions,
} from "../../../src/session/runtime/create-sessions.ts";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { eventually } from "../../support/eventually.ts";
import { createGate } from "../../support/gate.ts";
import { createDyingStore, type Kill } from "../../support/session/dying-store.ts";
import { createScriptedProvider, hangs, says } from "../../support/session/scripted-provider.ts";
import {
  createAgent,
  ME,
  openWorld,
  readUntil,
  type SessionWorld,
} from "../../support/session/session-world.ts";
import { createBoss, delegates } from "../../support/session/worker-world.ts";

const AUDITED = { mutationScope: "apply_workspace" } as const;

function createHelper(name = "helper"): Agent {
  const provider = createScriptedProvider([hangs()]);
  return createAgent({ name, provider, onLost: "resend", ...AUDITED });
}

const TASK = { type: "delegate", task: "Wait", isBackground: true } as const;

async function readMode(sessions: RunningSessions, sessionId: string): Promise<SessionMode> {
  return (await sessions.status(sessionId)).mode;
}

async function startWorker(world: SessionWorld, isRetriggerable = false) {
  await world.send({ ...TASK, isRetriggerable });
  const { sessionId: childId, workerId } = await world.waitForEvent("worker.spawned");
  await waitForInvocation(world.sessions, childId);
  return { childId, workerId };
}

async function waitForInvocation(sessions: RunningSessions, sessionId: string): Promise<void> {
  await eventually(async () => expect(await sessions.find(sessionId)).toBeDefined());
  await readUntil(sessions, sessionId, ({ event }) => event.type === "text.delta");
}

describe("The session mode of a worker", () => {
  it("A narrower mode of the parent has reached all running workers before its reply, at all levels", async () => {
    const middle = createBoss([delegates({ task: "Deeper" })], { name: "middle" });
    const boss = createBoss([says("Ready.")], { workers: { agents: [{ name: "middle" }] } });
    const world = await openWorld(boss, { others: [middle, createHelper()] });
    await world.send({ ...TASK, isRetriggerable: false });
    const { sessionId: middleId } = await world.waitForEvent("worker.spawned");
    await eventually(async () => expect(await world.sessions.find(middleId)).toBeDefined());
    const log = await readUntil(
      world.sessions,
      middleId,
      ({ event }) => event.type === "worker.spawned",
    );
    const deep = log.at(-1)?.event;
    const leafId = deep?.type === "worker.spawned" ? deep.sessionId : "";
    await waitForInvocation(world.sessions, leafId);
    await world.send({ type: "set-mode", mode: "read-only" });
    expect(await readMode(world.sessions, middleId)).toBe("read-only");
    expect(await readMode(world.sessions, leafId)).toBe("read-only");
  });

  it("A wider mode than the parent's is refused in the session of a worker, and a narrower one is accepted", async () => {
    const boss = createBoss([says("Ready.")]);
    const world = await openWorld(boss, { others: [createHelper()] });
    await world.send({ type: "set-mode", mode: "ask" });
    const { childId } = await startWorker(world);
    const set = (mode: SessionMode) =>
      world.sessions.command(childId, { type: "set-mode", mode }, { principal: ME });
    expect(await set("default")).toMatchObject({
      status: "refused",
      failure: { code: "conflict", message: expect.stringContaining('wider than the mode "ask"') },
    });
    expect(await readMode(world.sessions, childId)).toBe("ask");
    expect(await set("read-only")).toEqual({ status: "accepted" });
    expect(await set("ask")).toEqual({ status: "accepted" });
    await world.send({ type: "set-mode", mode: "default" });
    expect(await readMode(world.sessions, childId)).toBe("ask");
    expect(await set("default")).toEqual({ status: "accepted" });
  });

  it("Concurrent changes never leave a worker in a wider mode than its parent", async () => {
    const world = await openWorld(createBoss([says("Ready.")]), { others: [createHelper()] });
    const { childId } = await startWorker(world);
    for (let round = 0; round < 20; round++) {
      await Promise.all([
        world.send({ type: "set-mode", mode: round % 2 === 0 ? "read-only" : "default" }),
        world.sessions.command(childId, { type: "set-mode", mode: "default" }, { principal: ME }),
        world.sessions.command(childId, { type: "set-mode", mode: "ask" }, { principal: ME }),
        world.send({ type: "set-mode", mode: round % 2 === 0 ? "ask" : "read-only" }),
      ]);
      const mode = await readMode(world.sessions, childId);
      const parentMode = await readMode(world.sessions, world.sessionId);
      expect(isLessStrict(mode, parentMode), `${mode} under ${parentMode}`).toBe(false);
    }
  });

  it("A worker starts in the mode of its parent before its prompt is accepted", async () => {
    const world = await openWorld(createBoss([says("Ready.")]), { others: [createHelper()] });
    await world.send({ type: "set-mode", mode: "ask" });
    const { childId } = await startWorker(world);
    const types = (await world.store.read(childId, 0, 4)).map(({ event }) => event.type);
    expect(types).toEqual([
      "session.opened",
      "agent.configured",
      "session.mode_changed",
      "prompt.accepted",
    ]);
  });

  it("A change of the mode reaches a worker whose session is being created meanwhile", async () => {
    const gate = createGate();
    const store = createMemoryStore();
    let rootId = "";
    let lookups = 0;
    const delayed = new Proxy(store, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== "function") return value;
        return (...given: readonly unknown[]): unknown => {
          const call = (): unknown => Reflect.apply(value, target, given);
          const isLookup = name === "findSession" && rootId !== "" && given[0] !== rootId;
          if (isLookup) lookups += 1;
          return isLookup && lookups === 1 ? gate.pass().then(call) : call();
        };
      },
    });
    const options = { others: [createHelper()], store: delayed };
    const world = await openWorld(createBoss([says("Ready.")]), options);
    rootId = world.sessionId;
    await world.send({ ...TASK, isRetriggerable: false });
    const { sessionId: childId } = await world.waitForEvent("worker.spawned");
    await eventually(() => expect(lookups).toBe(1));
    // The session of the worker does not exist, so the change cannot reach it.
    expect(await world.send({ type: "set-mode", mode: "read-only" })).toEqual({
      status: "accepted",
    });
    gate.open();
    await waitForInvocation(world.sessions, childId);
    expect((await world.store.read(childId, 2, 1))[0]?.event).toMatchObject({ mode: "read-only" });
  });

  it("A waiting worker starts its next cycle in the narrower mode of its parent, with a read-only audit record", async () => {
    const provider = createScriptedProvider([says("One."), hangs()]);
    const helper = createAgent({ name: "helper", provider, ...AUDITED });
    const boss = createBoss([says("Ready.")], {
      workers: {
        agents: [
          {
            name: "helper",
            audit: {
              mutationScope: "apply_workspace",
              autoApprove: [],
              autoDeny: [],
              requireApproval: [],
              writePathAllowlist: null,
            },
          },
        ],
      },
    });
    const world = await openWorld(boss, { others: [helper] });
    await world.send({ ...TASK, isRetriggerable: true });
    const { workerId } = await world.waitForEvent("worker.waiting_for_input");
    await world.send({ type: "set-mode", mode: "read-only" });
    await world.send({ type: "set-mode", mode: "ask" });
    await world.send({ type: "set-mode", mode: "read-only" });
    await world.send({ type: "trigger-worker", workerId, payload: "again" });
    expect(await world.waitForEvent("worker.spawned", 2)).toMatchObject({
      sessionMode: "read-only",
      audit: { mutationScope: "read_only" },
    });
  });
});

/** Plays a change of the mode in a process which dies at a write. Returns the sessions of the next process. */
async function changeModeAndDie(kill: Kill | undefined, isWaiting: boolean) {
  const store = createMemoryStore();
  const cycle = isWaiting ? says("One.") : hangs();
  const start = (own: Store): RunningSessions => {
    const provider = createScriptedProvider([cycle]);
    const helper = createAgent({ name: "helper", provider, onLost: "resend" });
    const agents = [createBoss([says("Ready.")]), helper];
    const sessions = createSessions({ store: own, agents, clock: systemClock, owner: "test" });
    onTestFinished(() => sessions.close());
    return sessions;
  };
  const first = start(store);
  const { sessionId } = await first.open({ principal: ME });
  const from = { principal: ME };
  await first.command(sessionId, { ...TASK, isRetriggerable: true }, from);
  const log = await readUntil(first, sessionId, ({ event }) => event.type === "worker.spawned");
  const spawned = log.at(-1)?.event;
  if (spawned?.type !== "worker.spawned") throw new Error("No worker was spawned");
  const { sessionId: childId, workerId } = spawned;
  if (isWaiting)
    await readUntil(first, sessionId, ({ event }) => event.type === "worker.waiting_for_input");
  else await waitForInvocation(first, childId);
  await first.close();
  const dying = createDyingStore(store, kill);
  const killed = start(dying.store);
  const change = killed.resumeInterrupted().then(async () => {
    await killed.command(sessionId, { type: "set-mode", mode: "read-only" }, from);
    return "changed";
  });
  await Promise.race([change.catch(() => undefined), dying.death]);
  const writes = dying.countWrites();
  await killed.close().catch(() => undefined);
  const next = start(store);
  await next.resumeInterrupted();
  return { sessions: next, sessionId, childId, workerId, writes };
}

describe.each([
  ["running", false],
  ["waiting", true],
])("A narrower mode for a %s worker, in a process which is killed", (_, isWaiting) => {
  it("After a kill before or after any write, the worker is as strict as its parent before it continues", async () => {
    const { writes } = await changeModeAndDie(undefined, isWaiting);
    expect(writes).toBeGreaterThan(1);
    for (let write = 1; write <= writes; write++) {
      for (const when of ["before", "after"] as const) {
        const name = `killed ${when} write ${write}`;
        const world = await changeModeAndDie({ write, when }, isWaiting);
        const { sessions, sessionId, childId, workerId } = world;
        const trigger = { type: "trigger-worker", workerId, payload: "again" } as const;
        if (isWaiting) {
          await sessions.command(sessionId, trigger, { principal: ME });
        }
        await eventually(async () => {
          const parentMode = await readMode(sessions, sessionId);
          expect(await readMode(sessions, childId), name).toBe(parentMode);
        });
        await sessions.close();
      }
    }
  });
});
