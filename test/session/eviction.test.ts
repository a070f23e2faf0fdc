import { describe, expect, it, onTestFinished } from "vitest";
import type { Agent } from "../../src/session/runtime/agent/agent.ts";
import { createSessions, type RunningSessions } from "../../src/session/runtime/create-sessions.ts";
import type { MemoryLimits } from "../../src/session/runtime/idle-eviction.ts";
import { isQuiet } from "../../src/session/runtime/driver.ts";
import { initialState } from "../../src/session/session-state.ts";
import { createMemoryStore } from "../../src/store/memory/memory-store.ts";
import type { Store } from "../../src/store/store.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { createGate } from "../support/gate.ts";
import { says, createScriptedProvider, wants } from "../support/session/scripted-provider.ts";
import { createAgent, ME, readUntil, createTool } from "../support/session/session-world.ts";
import { waitUntil } from "../support/with-deadline.ts";

interface Evicting {
  readonly sessions: RunningSessions;
  /** Ids of sessions loaded or opened, and of sessions evicted, in order. */
  readonly acquired: readonly string[];
  readonly released: readonly string[];
  open(name: string): Promise<void>;
  prompt(name: string, text?: string): Promise<void>;
  /** Resolves with the outcome when the nth turn of a session has ended. */
  turn(name: string, nth?: number): Promise<string>;
}

/** Sessions with a stopped clock, so none is evicted for being idle. */
function evicting(
  agent: Agent,
  memory: Partial<MemoryLimits> = {},
  store: Store = createMemoryStore(),
): Evicting {
  const acquired: string[] = [];
  const released: string[] = [];
  const sessions = createSessions({
    store: {
      ...store,
      acquire: (sessionId, options) => {
        acquired.push(sessionId);
        return store.acquire(sessionId, options);
      },
      release: (lease) => {
        released.push(lease.sessionId);
        return store.release(lease);
      },
    },
    agents: [agent],
    clock: createFakeClock(),
    owner: "test",
    memory,
  });
  onTestFinished(() => sessions.close());
  return {
    sessions,
    acquired,
    released,
    async open(sessionId) {
      await sessions.open({ sessionId, principal: ME });
    },
    async prompt(sessionId, text = "Hello") {
      const content = [{ type: "text", text }] as const;
      await sessions.command(sessionId, { type: "prompt", content }, { principal: ME });
    },
    async turn(sessionId, nth = 1) {
      let count = 0;
      const seen = await readUntil(sessions, sessionId, ({ event }) => {
        if (event.type === "turn.finished") count += 1;
        return count === nth;
      });
      const last = seen.at(-1)?.event;
      return last?.type === "turn.finished" ? last.outcome : "none";
    },
  };
}

const first = {
  sender: { principal: ME },
  createPrompt: () => ({ type: "prompt", content: [{ type: "text", text: "Hello" }] }) as const,
};

describe("sessions beyond the memory limits", () => {
  it("The least recently used session leaves memory first, and its next prompt loads it", async () => {
    const world = evicting(createAgent({ provider: createScriptedProvider([says("One.")]) }), {
      sessions: 3,
    });
    for (const name of ["ses_a", "ses_b", "ses_c"]) await world.open(name);
    await world.sessions.status("ses_a");
    await world.open("ses_d");
    await waitUntil(() => world.released.length === 1);
    expect(world.released).toEqual(["ses_b"]);
    await world.prompt("ses_b");
    expect(await world.turn("ses_b")).toBe("completed");
    await waitUntil(() => world.released.length === 2);
    expect(world.released).toEqual(["ses_b", "ses_c"]);
    expect(world.acquired).toEqual(["ses_a", "ses_b", "ses_c", "ses_d", "ses_b"]);
  });

  it("A session with a long history counts with its bytes, and is the last to leave", async () => {
    const provider = createScriptedProvider([says("One.")], { keepsHistory: false });
    const world = evicting(createAgent({ provider }), { bytes: 400_000 });
    for (const name of ["ses_a", "ses_b", "ses_long"]) await world.open(name);
    await world.prompt("ses_long", "x".repeat(100_000));
    await world.turn("ses_long");
    expect(world.released).toEqual([]);
    await world.prompt("ses_long", "y".repeat(100_000));
    await world.turn("ses_long", 2);
    await world.prompt("ses_long");
    await world.turn("ses_long", 3);
    await waitUntil(() => world.released.length === 2);
    expect(world.released).toEqual(["ses_a", "ses_b"]);
    await world.prompt("ses_long");
    await world.turn("ses_long", 4);
    expect(world.acquired.filter((name) => name === "ses_long")).toHaveLength(1);
  });

  it("A session stays in memory while its turn runs", async () => {
    const running = createGate();
    const work = createTool({ name: "work" }, async () => {
      await running.pass();
      return "done";
    });
    const provider = createScriptedProvider([wants({ id: "c1", name: "work" }), says("Done.")]);
    const world = evicting(createAgent({ provider, tools: [work] }), { sessions: 1 });
    await world.open("ses_busy");
    await world.prompt("ses_busy");
    await running.entry;
    await expectToStay(world, "ses_busy");
    running.open();
    expect(await world.turn("ses_busy")).toBe("completed");
    expect(world.acquired.filter((name) => name === "ses_busy")).toHaveLength(1);
  });

  it("A session stays in memory while an approval is pending", async () => {
    const approvals = { deny: [], ask: ["*"], allow: [], default: "ask" } as const;
    const provider = createScriptedProvider([wants({ id: "c1", name: "work" }), says("Done.")]);
    const work = createTool({ name: "work" }, () => "done");
    const world = evicting(createAgent({ provider, tools: [work], approvals }), { sessions: 1 });
    await world.open("ses_busy");
    await world.prompt("ses_busy");
    await readUntil(world.sessions, "ses_busy", ({ event }) => event.type === "approval.requested");
    await expectToStay(world, "ses_busy");
  });

  it("A session stays in memory while a client is attached, and may leave when the client has left", async () => {
    const world = evicting(createAgent({ provider: createScriptedProvider([says("One.")]) }), {
      sessions: 1,
    });
    const from = { principal: ME, clientId: "client_1" };
    const attach = { type: "attach", clientId: "client_1", mode: "controller", name: "a" } as const;
    await world.open("ses_busy");
    await world.sessions.command("ses_busy", attach, from);
    await expectToStay(world, "ses_busy");
    const detach = { type: "detach", clientId: "client_1", reason: "closed" } as const;
    await world.sessions.command("ses_busy", detach, from);
    await world.open("ses_after");
    await waitUntil(
      () => world.released.includes("ses_busy"),
      () => world.released,
    );
  });

  it("A session stays in memory until the last of several commands at once is done", async () => {
    const store = createMemoryStore();
    const reading = createGate();
    let isSlow = false;
    const readPage: Store["readPage"] = async (...args) => {
      if (isSlow) await reading.pass();
      return store.readPage(...args);
    };
    const provider = createScriptedProvider([says("One.")]);
    const world = evicting(createAgent({ provider }), { sessions: 0 }, { ...store, readPage });
    const begun = await world.sessions.openWithPrompt({ sessionId: "ses_a", principal: ME }, first);
    await waitUntil(() => world.released.length === 1);
    const from = { principal: ME };
    const promptId = begun.reply?.status === "accepted" ? String(begun.reply.promptId) : "none";
    const busy = { type: "attach", clientId: "client_1", mode: "observer", name: "a" } as const;
    await world.sessions.command("ses_a", busy, { ...from, clientId: "client_1" });
    isSlow = true;
    const forgetting = world.sessions.command("ses_a", { type: "hide-prompt", promptId }, from);
    await reading.entry;
    const detach = { type: "detach", clientId: "client_1", reason: "closed" } as const;
    await world.sessions.command("ses_a", detach, { ...from, clientId: "client_1" });
    reading.open();
    expect(await forgetting).toMatchObject({ status: "accepted" });
    await waitUntil(() => world.released.length === 2);
    expect(world.acquired).toEqual(["ses_a", "ses_a"]);
  });

  it("Prompts sent while their session is being evicted all get a response", async () => {
    const provider = createScriptedProvider([says("One.")]);
    const world = evicting(createAgent({ provider }), { sessions: 0, bytes: 0 });
    const names = Array.from({ length: 20 }, (_, at) => `ses_${at}`);
    const converse = async (sessionId: string): Promise<readonly string[]> => {
      await world.sessions.openWithPrompt({ sessionId, principal: ME }, first);
      const outcomes = [await world.turn(sessionId)];
      for (let nth = 2; nth <= 6; nth++) {
        await world.prompt(sessionId);
        outcomes.push(await world.turn(sessionId, nth));
      }
      return outcomes;
    };
    const outcomes = await Promise.all(names.map(converse));
    expect(outcomes).toEqual(names.map(() => Array.from({ length: 6 }, () => "completed")));
    await waitUntil(() => world.released.length === world.acquired.length);
    expect(world.acquired.length).toBeGreaterThan(names.length);
  });
});

describe("A session opened with its first prompt", () => {
  it("A session opened with a prompt is evicted when its turn ends, stays readable, and continues with its next prompt", async () => {
    const provider = createScriptedProvider([says("One."), says("Two.")]);
    const world = evicting(createAgent({ provider }));
    const { sessionId } = await world.sessions.openWithPrompt({ principal: ME }, first);
    await waitUntil(() => world.released.length === 1);
    expect(await world.turn(sessionId)).toBe("completed");
    expect(world.acquired).toEqual([sessionId]);
    await world.prompt(sessionId, "And then?");
    expect(await world.turn(sessionId, 2)).toBe("completed");
    expect(provider.invocations.map((call) => call.sessionId)).toEqual([
      provider.invocations[0]?.sessionId,
      provider.invocations[0]?.sessionId,
    ]);
    expect(world).toMatchObject({ acquired: [sessionId, sessionId], released: [sessionId] });
  });

  it("A session opened with a prompt stays in memory if a second prompt arrives before its turn ends", async () => {
    const running = createGate();
    const work = createTool({ name: "work" }, async () => {
      await running.pass();
      return "done";
    });
    const provider = createScriptedProvider([wants({ id: "c1", name: "work" }), says("Done.")]);
    const world = evicting(createAgent({ provider, tools: [work] }));
    const { sessionId } = await world.sessions.openWithPrompt({ principal: ME }, first);
    await running.entry;
    await world.prompt(sessionId, "And then?");
    running.open();
    expect(await world.turn(sessionId, 2)).toBe("completed");
    await world.sessions.status(sessionId);
    expect(world).toMatchObject({ acquired: [sessionId], released: [] });
  });

  it("A session opened with a prompt stays in memory for the idle time of its agent", async () => {
    const agent = createAgent({ provider: createScriptedProvider([says("One.")]) });
    const open = async () => ({ agent, idleMs: 900_000, close: async () => undefined });
    const world = evicting({ ...agent, open });
    const { sessionId } = await world.sessions.openWithPrompt({ principal: ME }, first);
    await world.turn(sessionId);
    await world.sessions.status(sessionId);
    expect(world).toMatchObject({ acquired: [sessionId], released: [] });
  });
});

describe("isQuiet", () => {
  const request = { requestId: "req_1", deadline: 1000 };

  it("A session with a future deadline is not quiet", () => {
    const clients = { ...initialState.clients, requests: [request] };
    const state = { ...initialState, clients } as unknown as typeof initialState;
    expect([isQuiet(initialState), isQuiet(state)]).toEqual([true, false]);
  });

  it("A session with an upstream session still to be stopped is not quiet", () => {
    const { spec, digest } = createAgent({ provider: createScriptedProvider([]) });
    const upstream = { upstreamId: "up_1", isUncertain: true };
    const turn = { ...initialState.turn, upstream };
    const state = { ...initialState, agent: { spec, digest }, turn };
    expect(isQuiet(state as unknown as typeof initialState)).toBe(false);
  });
});

/** Opens further sessions until the limits evict others. */
async function expectToStay(world: Evicting, sessionId: string): Promise<void> {
  for (const name of ["ses_1", "ses_2", "ses_3"]) await world.open(name);
  await waitUntil(
    () => world.released.length >= 2,
    () => world.released,
  );
  expect(world.released).not.toContain(sessionId);
}
