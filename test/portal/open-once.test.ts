import { describe, expect, it, onTestFinished } from "vitest";
import type { Agent } from "../../src/session/runtime/agent/agent.ts";
import { createSessions, type RunningSessions } from "../../src/session/runtime/create-sessions.ts";
import { createMemoryStore } from "../../src/store/memory/memory-store.ts";
import type { Store } from "../../src/store/store.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { says, createScriptedProvider } from "../support/session/scripted-provider.ts";
import { createAgent, ME } from "../support/session/session-world.ts";
import { opened, temporaryFile } from "../store/sqlite-support.ts";
import { servedPortal, withToken, type Answer, type ServedPortal } from "./start-portal.ts";

function sessionsOf(store: Store, resolveFolder?: Agent["resolveFolder"]): RunningSessions {
  const provider = createScriptedProvider([says("Yes.")]);
  const agents = ["demo", "other"].map((name) => ({
    ...createAgent({ name, provider }),
    ...(resolveFolder !== undefined && { resolveFolder }),
  }));
  const sessions = createSessions({ store, agents, clock: createFakeClock(), owner: "test" });
  onTestFinished(() => sessions.close());
  return sessions;
}

async function portalOn(sessions: RunningSessions, principal?: string): Promise<ServedPortal> {
  const portal = await servedPortal(sessions, principal === undefined ? {} : { principal });
  onTestFinished(() => portal.close());
  return portal;
}

/** Requests a session with an idempotency key. */
function ask(portal: ServedPortal, key: string, body: object = {}): Promise<Answer> {
  return portal.post("/api/sessions", body, { ...withToken, "idempotency-key": key });
}

const idOf = ({ json }: Answer): unknown => Object(json).sessionId;

async function countOf(sessions: RunningSessions): Promise<number> {
  return (await sessions.list({ limit: 100 })).sessions.length;
}

describe("Sessions opened with an idempotency key", () => {
  it("The same key returns the same session, also for concurrent requests", async () => {
    const sessions = sessionsOf(createMemoryStore());
    const portal = await portalOn(sessions);
    const body = { title: "Notes", agent: "other", workingDirectory: "/tmp" };
    const answers = await Promise.all([ask(portal, "k", body), ask(portal, "k", body)]);
    answers.push(await ask(portal, "k", body));
    const [first] = answers;
    expect(first).toMatchObject({
      status: 201,
      headers: { location: `/api/sessions/${String(first && idOf(first))}` },
      json: { sessionId: expect.stringMatching(/^ses_/), title: "Notes", agent: "other" },
    });
    for (const answer of answers) {
      expect([answer.status, answer.json]).toEqual([201, first?.json]);
    }
    expect(await countOf(sessions)).toBe(1);
  });

  it("The same key returns the same session after a restart and after a rename", async () => {
    const file = temporaryFile();
    const store = await opened({ file });
    const before = sessionsOf(store);
    const first = await ask(await portalOn(before), "k", { title: "Notes" });
    const sessionId = String(idOf(first));
    await before.command(sessionId, { type: "set-title", title: "Others" }, { principal: ME });
    await before.close();
    await store.close();
    const again = await ask(await portalOn(sessionsOf(await opened({ file }))), "k", {
      title: "Notes",
    });
    expect(again).toMatchObject({ status: 201, json: { sessionId, title: "Others" } });
  });

  it.each([
    ["title", { title: "Others" }],
    ["agent", { title: "Notes", agent: "other" }],
    ["workingDirectory", { title: "Notes", workingDirectory: "/tmp" }],
    ["title", {}],
  ])("The same key with another %s is refused, and no session is opened", async (name, body) => {
    const sessions = sessionsOf(createMemoryStore());
    const portal = await portalOn(sessions);
    await ask(portal, "k", { title: "Notes" });
    expect(await ask(portal, "k", body)).toMatchObject({
      status: 409,
      json: { error: { code: "conflict", message: expect.stringContaining(name) } },
    });
    expect(await countOf(sessions)).toBe(1);
    const same = { title: "Notes", agent: "demo", workingDirectory: null };
    expect(await ask(portal, "k", same)).toMatchObject({ status: 201 });
  });

  it("A session with the agent's default folder is opened once, and another request with its key is refused without a trace", async () => {
    const sessions = sessionsOf(createMemoryStore(), async (named = "/default") => `/real${named}`);
    const portal = await portalOn(sessions);
    const first = await ask(portal, "k");
    expect(first).toMatchObject({ status: 201, json: { agent: "demo" } });
    expect([
      (await ask(portal, "k")).json,
      (await ask(portal, "k", { agent: "demo" })).json,
    ]).toEqual([first.json, first.json]);
    const chosen = { workingDirectory: "/usr" };
    const second = await ask(portal, "l", chosen);
    expect(second).toMatchObject({ status: 201 });
    expect((await ask(portal, "l", chosen)).json).toEqual(second.json);
    for (const body of [chosen, { agent: "other" }]) {
      expect(await ask(portal, "k", body)).toMatchObject({ status: 409 });
    }
    expect(await countOf(sessions)).toBe(2);
  });

  it("Another key, a missing key and another principal each get a new session", async () => {
    const sessions = sessionsOf(createMemoryStore());
    const portal = await portalOn(sessions);
    const answers = [
      await ask(portal, "k"),
      await ask(portal, "l"),
      await portal.post("/api/sessions", {}),
      await portal.post("/api/sessions", {}),
      await ask(await portalOn(sessions, "somebody"), "k"),
    ];
    expect(new Set(answers.map(idOf)).size).toBe(5);
    expect(await countOf(sessions)).toBe(5);
  });

  it("An invalid key is refused", async () => {
    const sessions = sessionsOf(createMemoryStore());
    const portal = await portalOn(sessions);
    for (const key of ["", "a b", "x".repeat(201)]) {
      expect(await ask(portal, key)).toMatchObject({
        status: 400,
        json: { error: { code: "validation_failed" } },
      });
    }
    expect(await countOf(sessions)).toBe(0);
  });
});
