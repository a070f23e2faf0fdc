import { describe, expect, it, onTestFinished } from "vitest";
import { createHost, type PermissionRequest, type SessionUpdate } from "../../src/host/index.ts";
import { createMemoryStore } from "../../src/store/memory/memory-store.ts";
import { createHostClient } from "../support/acp/host-client.ts";
import {
  hangs,
  says,
  createScriptedProvider,
  wants,
  type ProviderScript,
} from "../support/session/scripted-provider.ts";
import { createAgent, openSessions, createTool } from "../support/session/session-world.ts";

const PLACE = { workingDirectory: "/work" };

function world(...answers: readonly ProviderScript[]) {
  const provider = createScriptedProvider(answers);
  const ran: unknown[] = [];
  const save = createTool({ name: "save" }, (input) => {
    ran.push(input);
    return "saved";
  });
  const approvals = { deny: [], ask: ["save"], allow: [], default: "deny" } as const;
  const store = createMemoryStore();
  const sessions = openSessions(store, createAgent({ provider, tools: [save], approvals }));
  onTestFinished(() => sessions.close());
  return { sessions, store, ran, provider };
}

async function collected(updates: AsyncIterable<SessionUpdate>): Promise<SessionUpdate[]> {
  const all: SessionUpdate[] = [];
  for await (const update of updates) all.push(update);
  return all;
}

function textIn(updates: readonly SessionUpdate[]): string {
  return updates.map((one) => (one.type === "agent-text" ? one.text : "")).join("");
}

describe("Host client", () => {
  it("A prompt yields its updates and its result [W-48]", async () => {
    const { sessions } = world(says("Hello there"));
    const { client } = createHostClient(sessions);
    expect((await client.initialize()).name).toBe("Spanline");
    const { sessionId } = await client.newSession(PLACE);
    const run = client.prompt(sessionId, "Hi");
    expect(textIn(await collected(run))).toBe("Hello there");
    expect(await run.result).toMatchObject({ reason: "end_turn" });
  });

  it("The host is asked before a tool runs, with the request and its rationale [W-48] [B-111]", async () => {
    const { sessions, ran } = world(
      wants({ id: "c1", name: "save", input: { text: "a" } }),
      says("Done"),
    );
    const questions: PermissionRequest[] = [];
    const host = createHost({
      permission(question) {
        questions.push(question);
        return "allow";
      },
    });
    const { client } = createHostClient(sessions, { host });
    const { sessionId } = await client.newSession(PLACE);
    const updates = await collected(client.prompt(sessionId, "Save it"));
    expect(ran).toEqual([{ text: "a" }]);
    expect(questions[0]).toMatchObject({
      sessionId,
      approval: { action: "save", args: { text: "a" }, principal: "demo" },
      rationale: { action: "ask" },
    });
    const tools = updates.flatMap((one) => (one.type === "tool" ? [one] : []));
    expect(tools[0]?.isNew).toBe(true);
    expect(tools.at(-1)).toMatchObject({
      status: "completed",
      bridge: { executor: { type: "builtin" } },
    });
  });

  it.each([
    ["denies", () => "deny" as const],
    ["throws", () => Promise.reject(new Error("no screen"))],
    ["returns an unknown reply", () => "yes" as never],
  ])("A tool does not run if its host %s", async (_, permission) => {
    const { sessions, ran } = world(wants({ id: "c1", name: "save" }), says("Well"));
    const { client } = createHostClient(sessions, { host: createHost({ permission }) });
    const { sessionId } = await client.newSession(PLACE);
    const run = client.prompt(sessionId, "Save it");
    expect(await run.result).toMatchObject({ reason: "end_turn" });
    expect(ran).toEqual([]);
  });

  it("A tool does not run if the host has no permission handler", async () => {
    const { sessions, ran } = world(wants({ id: "c1", name: "save" }), says("Well"));
    const { client } = createHostClient(sessions);
    const { sessionId } = await client.newSession(PLACE);
    await client.prompt(sessionId, "Save it").result;
    expect(ran).toEqual([]);
  });

  it("A tool runs with the arguments edited by its host [B-115]", async () => {
    const { sessions, ran } = world(
      wants({ id: "c1", name: "save", input: { text: "a" } }),
      says("Done"),
    );
    const host = createHost({ permission: () => ({ allow: { text: "b" } }) });
    const { client } = createHostClient(sessions, { host });
    const { sessionId } = await client.newSession(PLACE);
    await client.prompt(sessionId, "Save it").result;
    expect(ran).toEqual([{ text: "b" }]);
  });

  it("A request left open by a host is withdrawn after a takeover and decided by the new controller [B-210]", async () => {
    const { sessions, ran } = world(wants({ id: "c1", name: "save" }), says("Done"));
    let isWithdrawn = false;
    const first = createHostClient(sessions, {
      host: createHost({
        permission(_, { signal }) {
          signal.addEventListener("abort", () => (isWithdrawn = true));
          return "leave";
        },
      }),
    });
    const { sessionId } = await first.client.newSession(PLACE);
    const run = first.client.prompt(sessionId, "Save it");
    const second = createHostClient(sessions, { host: createHost({ permission: () => "allow" }) });
    const taking = { clientId: "second", mode: "controller", takeOver: true } as const;
    await second.client.attach(sessionId, taking);
    await run.result;
    expect(ran).toHaveLength(1);
    expect(isWithdrawn).toBe(true);
  });

  it("A cancelled turn still gets a result", async () => {
    const { sessions } = world(hangs("Well"));
    const { client } = createHostClient(sessions);
    const { sessionId } = await client.newSession(PLACE);
    const run = client.prompt(sessionId, "Think");
    for await (const update of run) {
      if (update.type === "agent-text") run.cancel();
    }
    expect(await run.result).toMatchObject({ reason: "cancelled" });
  });

  it("Cancelling one prompt does not affect another prompt", async () => {
    const { sessions } = world(hangs("Well"), says("Second"));
    const { client } = createHostClient(sessions);
    const { sessionId } = await client.newSession(PLACE);
    const first = client.prompt(sessionId, "One");
    const second = client.prompt(sessionId, "Two");
    for await (const update of first) {
      if (update.type === "agent-text") first.cancel();
    }
    expect(await first.result).toMatchObject({ reason: "cancelled" });
    expect(textIn(await collected(second))).toBe("Second");
  });

  it("The client lists, loads, forks, closes and deletes sessions", async () => {
    const { sessions } = world(says("Hello"));
    const told: [string, boolean][] = [];
    const { client } = createHostClient(sessions, {
      onUpdate({ update, isHistory }) {
        if ("text" in update) told.push([update.text, isHistory]);
      },
    });
    const { sessionId } = await client.newSession(PLACE);
    await client.prompt(sessionId, "Hi").result;
    expect(await client.listSessions(PLACE)).toMatchObject({
      sessions: [{ sessionId, state: "idle" }],
    });
    await client.closeSession(sessionId);
    told.length = 0;
    await client.loadSession(sessionId, PLACE);
    expect(told).toEqual([
      ["Hi", true],
      ["Hello", true],
    ]);
    const fork = await client.forkSession(sessionId, PLACE);
    expect(fork.sessionId).not.toBe(sessionId);
    await client.deleteSession(fork.sessionId);
    await client.deleteSession(fork.sessionId);
    expect((await client.listSessions()).sessions.map((one) => one.sessionId)).toEqual([sessionId]);
  });

  it("The client reads modes, options and usage", async () => {
    const { sessions } = world(says("Hello"));
    const { client } = createHostClient(sessions);
    const { sessionId, modes, options } = await client.newSession(PLACE);
    expect(modes?.current).toBe("default");
    expect(modes?.available.map(({ id }) => id)).toEqual(["default", "ask", "read-only"]);
    expect(options).toMatchObject([{ id: "mode", type: "select", value: "default" }]);
    const [option] = await client.setOption(sessionId, "mode", "ask");
    expect(option).toMatchObject({ value: "ask", category: "mode" });
    const choices = option?.type === "select" ? option.choices.map(({ value }) => value) : [];
    expect(choices).toEqual(["default", "ask", "read-only"]);
    const { usage } = await client.prompt(sessionId, [{ type: "text", text: "Hi" }]).result;
    expect(usage === null || typeof usage.totalTokens === "number").toBe(true);
  });

  it("An error of the agent has a Spanline code", async () => {
    const { sessions } = world(says("Hello"));
    const { client } = createHostClient(sessions);
    await expect(client.loadSession("ses_none", PLACE)).rejects.toMatchObject({
      code: "not_found",
    });
    await expect(client.newSession({ workingDirectory: "here" })).rejects.toMatchObject({
      code: "validation_failed",
    });
  });
});

describe("Attached client", () => {
  it("The client receives attach and detach updates that the bridge advertised [B-025] [B-214]", async () => {
    const { sessions } = world(says("Hello"));
    const told: SessionUpdate[] = [];
    const { client } = createHostClient(sessions, { onUpdate: ({ update }) => told.push(update) });
    expect((await client.initialize()).extensions).toContain("live_session_client");
    const { sessionId } = await client.newSession(PLACE);
    const other = createHostClient(sessions).client;
    await other.attach(sessionId, { clientId: "other", mode: "observer" });
    await client.prompt(sessionId, "Hi").result;
    expect(told).toContainEqual({
      type: "extension",
      name: "live_session_client",
      fields: expect.objectContaining({ action: "attached" }),
    });
  });

  it("The client lists other clients, takes over and detaches [B-206]", async () => {
    const { sessions } = world(says("Hello"));
    const one = createHostClient(sessions).client;
    const { sessionId } = await one.newSession(PLACE);
    await one.attach(sessionId, { clientId: "one", mode: "controller" });
    const two = createHostClient(sessions).client;
    const attached = await two.attach(sessionId, {
      clientId: "two",
      mode: "observer",
      metadata: { surface: "test" },
    });
    expect(attached).toMatchObject({
      controller: "one",
      client: { metadata: { surface: "test" } },
    });
    expect(await two.takeOver(sessionId)).toMatchObject({
      previousController: "one",
      controller: "two",
    });
    expect(await two.heartbeat(sessionId)).toMatchObject({ client: { clientId: "two" } });
    expect((await one.liveClients(sessionId)).map((client) => client.role)).toEqual([
      "observer",
      "controller",
    ]);
    expect(await two.detach(sessionId)).toMatchObject({ client: null, controller: null });
    await expect(two.heartbeat(sessionId)).rejects.toMatchObject({ code: "invalid_option" });
  });

  it("An observer's permissions stay after a takeover and are suspended while another client controls [B-209]", async () => {
    const { sessions } = world(says("Hello"));
    const one = createHostClient(sessions).client;
    const { sessionId } = await one.newSession(PLACE);
    await one.attach(sessionId, { clientId: "one", mode: "controller" });
    const two = createHostClient(sessions).client;
    const may = { mayPrompt: true, mayApprove: false };
    await two.attach(sessionId, { clientId: "two", mode: "observer", ...may });
    expect(await two.takeOver(sessionId)).toMatchObject({ client: may });
    await one.takeOver(sessionId);
    const clients = await one.liveClients(sessionId);
    expect(clients.find(({ clientId }) => clientId === "two")).toMatchObject({
      role: "observer",
      mayPrompt: false,
      mayApprove: false,
    });
    await one.detach(sessionId);
    const [left] = await two.liveClients(sessionId);
    expect(left).toMatchObject({ clientId: "two", role: "observer", ...may });
  });
});
