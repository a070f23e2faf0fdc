import { describe, expect, it, onTestFinished } from "vitest";
import { SpanlineError } from "../../../src/domain/errors.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { createSessions } from "../../../src/session/runtime/create-sessions.ts";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import { StoreError } from "../../../src/store/store-error.ts";
import type { Store } from "../../../src/store/store.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import {
  createTurnEnd,
  hangs,
  says,
  createScriptedProvider,
  type ProviderScript,
} from "../../support/session/scripted-provider.ts";
import { createAgent, ME, openWorld } from "../../support/session/session-world.ts";
import { waitUntil } from "../../support/with-deadline.ts";

const content = [{ type: "text", text: "Go" }] as const;
const PROMPT = { type: "prompt", content } as const;

/** A store which rejects a given number of appends. */
function failing(error: Error = new StoreError("wrong_seq", "The log is elsewhere for a moment")) {
  const inner = createMemoryStore();
  let failureCount = 0;
  const store: Store = {
    ...inner,
    append: (...args) => {
      if (failureCount === 0) return inner.append(...args);
      failureCount -= 1;
      return Promise.reject(error);
    },
  };
  return { store, fail: (times: number) => void (failureCount = times) };
}

/** Emits the beginning of a response, and the rest when released. */
function inTwo() {
  let goOn: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const answer: ProviderScript = async function* () {
    yield { type: "message.start", message: 0, role: "assistant" };
    yield { type: "text.delta", message: 0, block: 0, text: "Half" };
    await gate;
    yield { type: "text.end", message: 0, block: 0, text: "Half and half" };
    yield createTurnEnd({ outcome: "completed" });
  };
  return { answer, goOn: () => goOn() };
}

describe("A session with a temporary failure", () => {
  it("A failed session resumes with its clients, and its turn continues", async () => {
    const { store, fail } = failing();
    const { answer, goOn } = inTwo();
    const provider = createScriptedProvider([answer, says("Done.")]);
    const world = await openWorld(createAgent({ provider, onLost: "reseed" }), { store });
    const attach = { type: "attach", clientId: "editor", mode: "controller", name: "E" } as const;
    await world.send(attach, { clientId: "editor" });
    await world.prompt("Go");
    await world.waitForEvent("text.delta");
    fail(2);
    goOn();
    expect(await world.waitForEvent("turn.finished")).toMatchObject({ outcome: "completed" });
    expect(await world.listEvents("session.recovered")).toHaveLength(1);
    expect(await world.listEvents("client.detached")).toEqual([]);
    expect(world.reports).toMatchObject([{ code: "wrong_seq" }, { code: "wrong_seq" }]);
  });

  it("A session stays inactive after several retries, and the next command resumes it", async () => {
    const clock = createFakeClock();
    const { store, fail } = failing();
    const { answer, goOn } = inTwo();
    const provider = createScriptedProvider([answer, says("Done.")]);
    const failed: string[] = [];
    const reports: unknown[] = [];
    const sessions = createSessions({
      store,
      agents: [createAgent({ provider, onLost: "reseed" })],
      clock,
      owner: "test",
      report: (error) => void reports.push(error),
      onSessionFailed: (sessionId) => void failed.push(sessionId),
    });
    onTestFinished(() => sessions.close());
    const { sessionId } = await sessions.open({ principal: ME });
    await sessions.command(sessionId, PROMPT, { principal: ME });
    await waitUntil(async () => (await store.read(sessionId, 0, 100)).length >= 9);
    fail(Infinity);
    goOn();
    for (let round = 0; failed.length === 0 && round < 1000; round++) {
      clock.advance(100);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(failed).toEqual([sessionId]);
    expect(await sessions.find(sessionId)).toMatchObject({ state: "running" });
    fail(0);
    const title = { type: "set-title", title: "On" } as const;
    expect(await sessions.command(sessionId, title, { principal: ME })).toMatchObject({
      status: "accepted",
    });
    await waitUntil(async () => (await sessions.find(sessionId))?.state === "idle");
  });

  it.each(["store_closed", "store_damaged", "stale_lease"] as const)(
    "A session is not retried after a permanent error: %s",
    async (code) => {
      const error = new StoreError(code, "For good");
      const { store, fail } = failing(error);
      const { answer, goOn } = inTwo();
      const provider = createScriptedProvider([answer, says("Done.")]);
      let isLeft: (id: string) => void = () => undefined;
      const leaseLoss = new Promise<string>((resolve) => {
        isLeft = resolve;
      });
      const sessions = createSessions({
        store,
        agents: [createAgent({ provider })],
        clock: systemClock,
        owner: "test",
        onSessionFailed: (sessionId) => isLeft(sessionId),
      });
      onTestFinished(() => sessions.close());
      const { sessionId } = await sessions.open({ principal: ME });
      await sessions.command(sessionId, PROMPT, { principal: ME });
      await waitUntil(async () => (await store.read(sessionId, 0, 100)).length >= 9);
      fail(1);
      goOn();
      expect(await leaseLoss).toBe(sessionId);
      expect(provider.invocations.length).toBe(1);
    },
  );
});

describe("Closed sessions", () => {
  it("Closing sessions finishes requests in progress and refuses new ones", async () => {
    const store = createMemoryStore();
    const provider = createScriptedProvider([hangs(), says("Yes.")]);
    const sessions = createSessions({
      store,
      agents: [createAgent({ provider, onLost: "continue" })],
      clock: systemClock,
      owner: "test",
    });
    const { sessionId } = await sessions.open({ principal: ME });
    const first = sessions.command(sessionId, PROMPT, { principal: ME });
    const second = sessions.open({ principal: ME, sessionId: "ses_given" });
    const closing = sessions.close();
    expect(await first).toMatchObject({ status: "accepted" });
    expect(await second).toMatchObject({ sessionId: "ses_given" });
    await closing;
    const other = { owner: "other", now: systemClock.now(), durationMs: 1 };
    await expect(store.acquire("ses_given", other)).resolves.toMatchObject({ wasAbandoned: false });
    const before = await store.read(sessionId, 0, 100);
    const closed = { code: "aborted", message: expect.stringContaining("closed") };
    await expect(sessions.command(sessionId, PROMPT, { principal: ME })).rejects.toMatchObject(
      closed,
    );
    await expect(sessions.open({ principal: ME })).rejects.toMatchObject(closed);
    await expect(sessions.resumeInterrupted()).rejects.toMatchObject(closed);
    expect(await store.read(sessionId, 0, 100)).toEqual(before);
  });
});

describe("A session that cannot be resumed", () => {
  const taken = async (broken: (store: Store) => Partial<Store>) => {
    const clock = createFakeClock();
    const store = createMemoryStore();
    const agents = [createAgent({ provider: createScriptedProvider([hangs()]) })];
    const first = createSessions({ store, agents, clock, owner: "first" });
    const { sessionId } = await first.open({ principal: ME });
    await first.command(sessionId, PROMPT, { principal: ME });
    await first.close();
    const own = { ...store, ...broken(store) };
    const sessions = createSessions({ store: own, agents, clock, owner: "second" });
    const title = { type: "set-title", title: "x" } as const;
    await expect(sessions.command(sessionId, title, { principal: ME })).rejects.toThrow("broken");
    const other = { owner: "other", now: clock.now(), durationMs: 1000 };
    return { clock, sessions, acquired: () => store.acquire(sessionId, other) };
  };

  it("A session whose log cannot be read releases its lease", async () => {
    const readPage = () => Promise.reject(new SpanlineError("store_failed", "broken"));
    const { acquired, clock } = await taken(() => ({ readPage }));
    await expect(acquired()).resolves.toMatchObject({ lease: { owner: "other" } });
    clock.advance(60_000);
    expect(clock.pending).toBe(0);
  });

  it("A session whose first write fails releases its lease and its timers", async () => {
    const append = () => Promise.reject(new SpanlineError("store_damaged", "broken"));
    const { acquired, clock } = await taken(() => ({ append }));
    await expect(acquired()).resolves.toMatchObject({ lease: { owner: "other" } });
    clock.advance(60_000);
    expect(clock.pending).toBe(0);
  });

  it("An unknown session leaves no timers", async () => {
    const clock = createFakeClock();
    const agents = [createAgent({ provider: createScriptedProvider([hangs()]) })];
    const sessions = createSessions({ store: createMemoryStore(), agents, clock, owner: "test" });
    const title = { type: "set-title", title: "x" } as const;
    await expect(sessions.command("ses_none", title, { principal: ME })).rejects.toMatchObject({
      code: "not_found",
    });
    clock.advance(60_000);
    expect(clock.pending).toBe(0);
  });
});

describe("The lease of a session", () => {
  it("A closed driver does not renew its lease, even with a renewal in progress", async () => {
    const clock = createFakeClock();
    const inner = createMemoryStore();
    let answer: (isOurs: boolean) => void = () => undefined;
    const renewed = new Promise<boolean>((resolve) => {
      answer = resolve;
    });
    const store = { ...inner, renew: () => renewed };
    const world = await openWorld(createAgent({ provider: createScriptedProvider([hangs()]) }), {
      store,
      clock,
    });
    await world.prompt("Go");
    clock.advance(300_000);
    await world.sessions.close();
    answer(true);
    await new Promise((resolve) => setImmediate(resolve));
    expect(clock.pending).toBe(0);
  });
});
