import { describe, expect, it } from "vitest";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { says, createScriptedProvider, wants } from "../../support/session/scripted-provider.ts";
import { createAgent, createTool, openWorld } from "../../support/session/session-world.ts";
import { waitUntil } from "../../support/with-deadline.ts";

const IDLE_MS = 60_000;

/** Counts acquired and released leases. */
function counting(store: Store): Store & { readonly acquired: number; readonly released: number } {
  let acquired = 0;
  let released = 0;
  return {
    ...store,
    acquire: (...args) => {
      acquired += 1;
      return store.acquire(...args);
    },
    release: (lease) => {
      released += 1;
      return store.release(lease);
    },
    get acquired() {
      return acquired;
    },
    get released() {
      return released;
    },
  };
}

describe("An unused session", () => {
  it("An unused session is evicted, and its next command loads it", async () => {
    const clock = createFakeClock();
    const store = counting(createMemoryStore());
    const provider = createScriptedProvider([says("One."), says("Two.")]);
    const world = await openWorld(createAgent({ provider }), { store, clock });
    await world.prompt("First");
    await world.waitForEvent("turn.finished");
    clock.advance(2 * IDLE_MS);
    await waitUntil(() => store.released === 1);
    await world.prompt("Second");
    expect(await world.waitForEvent("turn.finished", 2)).toMatchObject({ outcome: "completed" });
    expect(store.acquired).toBe(2);
    expect((await world.listEvents("session.recovered")).length).toBe(0);
    expect(provider.invocations[1]?.sessionId).toBe(provider.invocations[0]?.sessionId);
  });

  it("A session which was only opened or recovered is evicted, too", async () => {
    const clock = createFakeClock();
    const store = counting(createMemoryStore());
    const approvals = { deny: [], ask: ["*"], allow: [], default: "ask" } as const;
    const provider = createScriptedProvider([wants({ id: "c1", name: "work" }), says("Done.")]);
    const work = createTool({ name: "work" }, () => "done");
    const agent = createAgent({ provider, tools: [work], approvals });
    const opened = await openWorld(agent, { store, clock });
    clock.advance(IDLE_MS);
    await waitUntil(() => store.released === 1);
    await opened.prompt("First");
    await opened.waitForEvent("approval.requested");

    const world = await opened.restart();
    clock.advance(600_000);
    await world.waitForEvent("turn.finished");
    for (let round = 0; store.released < 2 && round < 100; round++) {
      clock.advance(IDLE_MS);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(store.released).toBe(2);
  });

  it("A session with an open approval request stays in memory", async () => {
    const clock = createFakeClock();
    const store = counting(createMemoryStore());
    const approvals = { deny: [], ask: ["*"], allow: [], default: "ask" } as const;
    const provider = createScriptedProvider([wants({ id: "c1", name: "work" }), says("Done.")]);
    const work = createTool({ name: "work" }, () => "done");
    const world = await openWorld(createAgent({ provider, tools: [work], approvals }), {
      store,
      clock,
    });
    await world.prompt("First");
    const { approvalId } = await world.waitForEvent("approval.requested");
    for (let round = 0; round < 5; round++) {
      clock.advance(IDLE_MS);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await world.decideApproval(approvalId, "allow");
    await world.waitForEvent("turn.finished");
    expect({ acquired: store.acquired, released: store.released }).toEqual({
      acquired: 1,
      released: 0,
    });
  });

  it("A session with an attached client stays in memory", async () => {
    const clock = createFakeClock();
    const store = counting(createMemoryStore());
    const world = await openWorld(
      createAgent({ provider: createScriptedProvider([says("One.")]) }),
      {
        store,
        clock,
      },
    );
    const name = "an editor";
    await world.send({ type: "attach", clientId: "client_1", mode: "controller", name });
    for (let round = 0; round < 5; round++) {
      clock.advance(IDLE_MS);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await world.prompt("First");
    await world.waitForEvent("turn.finished");
    expect(store.acquired).toBe(1);
  });

  it("The idle time counts from the last activity, not from the last command", async () => {
    const clock = createFakeClock();
    const store = counting(createMemoryStore());
    let end: (text: string) => void = () => undefined;
    const work = createTool(
      { name: "work", timeoutMs: 3_600_000 },
      () => new Promise((resolve) => (end = resolve)),
    );
    const provider = createScriptedProvider([wants({ id: "c1", name: "work" }), says("Done.")]);
    const agent = createAgent({ provider, tools: [work], caps: { seconds: 3600 } });
    const open = async () => ({ agent, idleMs: 15 * IDLE_MS, close: async () => undefined });
    const world = await openWorld({ ...agent, open }, { store, clock });
    const passMinutes = async (minutes: number): Promise<void> => {
      for (let round = 0; round < minutes; round++) {
        clock.advance(IDLE_MS);
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    await world.prompt("First");
    await world.waitForEvent("tool.started");
    await passMinutes(20);
    end("done");
    await world.waitForEvent("turn.finished");
    await passMinutes(5);
    expect(store.released).toBe(0);
    await passMinutes(11);
    await waitUntil(() => store.released === 1);
  });

  it("A session keeps its lease while it is in memory", async () => {
    const clock = createFakeClock();
    const store = createMemoryStore();
    const world = await openWorld(
      createAgent({ provider: createScriptedProvider([says("One.")]) }),
      {
        store,
        clock,
      },
    );
    await world.send({ type: "attach", clientId: "client_1", mode: "observer", name: "a page" });
    for (let minutes = 0; minutes < 60; minutes += 5) {
      clock.advance(300_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    const other = { owner: "other", now: clock.now(), durationMs: 1000 };
    await expect(store.acquire(world.sessionId, other)).rejects.toMatchObject({
      code: "lease_held",
    });
  });
});
