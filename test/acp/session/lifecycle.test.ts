import { describe, expect, it, onTestFinished } from "vitest";
import { isObject } from "../../../src/data/json.ts";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import type { RunningSessions } from "../../../src/session/runtime/create-sessions.ts";
import {
  connectAcpClient,
  readText,
  USER,
  type AcpClient,
  type Message,
} from "../../support/acp/acp-client.ts";
import {
  hangs,
  refuses,
  says,
  createScriptedProvider,
  type ProviderScript,
} from "../../support/session/scripted-provider.ts";
import { createAgent, openSessions } from "../../support/session/session-world.ts";

const SETUP = { cwd: "/work", mcpServers: [] };

function world(...answers: readonly ProviderScript[]) {
  const provider = createScriptedProvider(answers);
  const sessions: RunningSessions = openSessions(createMemoryStore(), createAgent({ provider }));
  onTestFinished(() => sessions.close());
  return { sessions, provider };
}

function prompt(sessionId: string, text: string): unknown {
  return { sessionId, prompt: [{ type: "text", text }] };
}

async function prompted(client: AcpClient, sessionId: string, text: string): Promise<unknown> {
  return (await client.requestResult("session/prompt", prompt(sessionId, text)))["stopReason"];
}

function texts(client: AcpClient): string[] {
  return client
    .listUpdates()
    .flatMap(({ content }) => (isObject(content) ? [readText(content["text"])] : []));
}

function errorCode({ error }: Message): unknown {
  return isObject(error) ? error["code"] : undefined;
}

async function listed(
  client: AcpClient,
  params: object = {},
): Promise<{ readonly [key: string]: unknown }[]> {
  const { sessions } = await client.requestResult("session/list", params);
  return Array.isArray(sessions) ? sessions.filter(isObject) : [];
}

describe("what is offered", () => {
  it("is what there is, and nothing else is there [ACP-24] [ACP-36]", async () => {
    const { sessions } = world(says("Hi"));
    const client = await connectAcpClient(sessions);
    const { agentCapabilities } = await client.requestResult("initialize");
    const offered = isObject(agentCapabilities) ? agentCapabilities["sessionCapabilities"] : {};
    const names = new Set(["load", ...Object.keys(isObject(offered) ? offered : {})]);
    const known = ["list", "load", "resume", "close", "delete", "fork", "archive", "set_title"];
    for (const name of known) {
      const isThere =
        errorCode(await client.request(`session/${name}`, { sessionId: 7 })) !== -32601;
      expect([name, isThere]).toEqual([name, names.has(name)]);
    }
    expect(errorCode(await client.request("logout"))).toBe(-32601);
    expect(JSON.stringify(agentCapabilities)).not.toContain("logout");
  });
});

describe("credentials", () => {
  it("are asked for by one method, and any other is refused [ACP-26] [ACP-32]", async () => {
    const { sessions } = world(says("Hi"));
    const client = await connectAcpClient(sessions);
    const { authMethods } = await client.requestResult("initialize");
    const [method] = Array.isArray(authMethods) ? authMethods : [];
    const methodId = isObject(method) ? method["id"] : "";
    expect(await client.requestResult("authenticate", { methodId })).toEqual({});
    expect(errorCode(await client.request("authenticate", { methodId: "other" }))).toBe(-32602);
  });

  it("that a service does not know are an answer of their own, and looked for again [ACP-33] [ACP-34]", async () => {
    const { sessions } = world(refuses("no_credentials"), says("Hi"));
    const client = await connectAcpClient(sessions);
    const sessionId = await client.newSession();
    const answer = await client.request("session/prompt", prompt(sessionId, "Hello"));
    expect(answer["error"]).toMatchObject({ code: -32000, data: { code: "no_credentials" } });
    await client.requestResult("authenticate", { methodId: "environment" });
    expect(await prompted(client, sessionId, "Again")).toBe("end_turn");
  });
});

describe("the list of sessions", () => {
  it("is of the client's own, by folder, page by page [ACP-50] [ACP-53]", async () => {
    const { sessions } = world(says("Hi"));
    const client = await connectAcpClient(sessions);
    await client.request("initialize");
    expect(await listed(client)).toEqual([]);
    await sessions.open({ principal: { id: "another", rights: [] }, workingDirectory: "/work" });
    for (let count = 0; count < 51; count += 1)
      await sessions.open({ principal: USER, workingDirectory: "/work", title: `${count}` });
    const elsewhere = await sessions.open({ principal: USER, workingDirectory: "/else" });
    const first = await client.requestResult("session/list", { cwd: "/work" });
    const rest = await client.requestResult("session/list", {
      cwd: "/work",
      cursor: first["nextCursor"],
    });
    const titles = [first, rest].flatMap(({ sessions: page }) =>
      Array.isArray(page) ? page.map((one) => isObject(one) && one["title"]) : [],
    );
    expect(titles.map(Number).sort((one, other) => one - other)).toEqual(
      Array.from({ length: 51 }, (_, at) => at),
    );
    expect(rest["nextCursor"]).toBe(undefined);
    expect(await listed(client, { cwd: "/else" })).toEqual([
      {
        sessionId: elsewhere.sessionId,
        cwd: "/else",
        updatedAt: new Date(elsewhere.updatedAt).toISOString(),
      },
    ]);
  });

  it("changes with what is done in a session [ACP-53]", async () => {
    const { sessions } = world(says("Hi"));
    const client = await connectAcpClient(sessions);
    const sessionId = await client.newSession();
    const [before] = await listed(client);
    await prompted(client, sessionId, "Hello");
    const [after] = await listed(client);
    expect(Date.parse(String(after?.["updatedAt"]))).toBeGreaterThanOrEqual(
      Date.parse(String(before?.["updatedAt"])),
    );
  });

  it("is refused behind a place that no list gave [ACP-51]", async () => {
    const { sessions } = world(says("Hi"));
    const client = await connectAcpClient(sessions);
    await client.request("initialize");
    for (const params of [{ cursor: "nowhere" }, { cursor: 7 }, { cwd: "relative" }])
      expect(errorCode(await client.request("session/list", params))).toBe(-32602);
  });
});

describe("a session's title", () => {
  it("is what was said first, until somebody gives it one [ACP-52]", async () => {
    const { sessions } = world(says("Hi"));
    const client = await connectAcpClient(sessions);
    const sessionId = await client.newSession();
    await prompted(client, sessionId, "Fix the build\nplease");
    await prompted(client, sessionId, "And the tests");
    const titles = (): unknown[] =>
      client
        .listUpdates()
        .flatMap(({ sessionUpdate, title }) =>
          sessionUpdate === "session_info_update" ? [title] : [],
        );
    expect(titles()).toEqual(["Fix the build"]);
    expect(await listed(client)).toMatchObject([{ title: "Fix the build" }]);
    const from = { principal: USER };
    await sessions.command(sessionId, { type: "set-title", title: "The build" }, from);
    await client.waitForMessage(() => titles().length === 2);
    expect(await listed(client)).toMatchObject([{ title: "The build" }]);
  });

  it("stays the one that it was opened with [ACP-52]", async () => {
    const { sessions } = world(says("Hi"));
    const { sessionId } = await sessions.open({
      principal: USER,
      workingDirectory: "/work",
      title: "Mine",
    });
    const client = await connectAcpClient(sessions);
    await client.request("initialize");
    await prompted(client, sessionId, "Hello");
    expect(await listed(client)).toMatchObject([{ title: "Mine" }]);
  });
});

describe("a session that is resumed", () => {
  it("is told from there on, and nothing of before [ACP-57]", async () => {
    const { sessions } = world(says("First"), says("Second"));
    const before = await connectAcpClient(sessions);
    const sessionId = await before.newSession();
    await prompted(before, sessionId, "One");
    const client = await connectAcpClient(sessions);
    await client.request("initialize");
    await client.requestResult("session/resume", { sessionId, ...SETUP });
    expect(client.listUpdates()).toEqual([]);
    await prompted(client, sessionId, "Two");
    expect(texts(client)).toEqual(["Second"]);
  });

  it("has to be there [ACP-58]", async () => {
    const { sessions } = world(says("First"));
    const client = await connectAcpClient(sessions);
    await client.request("initialize");
    for (const method of ["session/resume", "session/fork", "session/close"]) {
      const answer = await client.request(method, { sessionId: "nowhere", ...SETUP });
      expect(answer["error"]).toMatchObject({ code: -32002, data: { sessionId: "nowhere" } });
    }
  });
});

describe("a session that is closed", () => {
  it("ends the prompt of its client, and can be closed and taken up again [ACP-61]", async () => {
    const { sessions } = world(hangs("Well"), says("Here again"));
    const client = await connectAcpClient(sessions);
    const sessionId = await client.newSession();
    const asked = client.requestResult("session/prompt", prompt(sessionId, "Go"));
    await client.waitForMessage(({ params }) => JSON.stringify(params ?? "").includes("Well"));
    expect(await client.requestResult("session/close", { sessionId })).toEqual({});
    expect(await asked).toEqual({ stopReason: "cancelled" });
    expect(await client.requestResult("session/close", { sessionId })).toEqual({});
    expect(await prompted(client, sessionId, "Are you there?")).toBe("end_turn");
  });

  it("keeps the turn of another client that follows it", async () => {
    const { sessions } = world(hangs("Well"));
    const one = await connectAcpClient(sessions);
    const sessionId = await one.newSession();
    const asked = one.requestResult("session/prompt", prompt(sessionId, "Go"));
    await one.waitForMessage(({ params }) => JSON.stringify(params ?? "").includes("Well"));
    const other = await connectAcpClient(sessions);
    await other.request("initialize");
    await other.requestResult("session/load", { sessionId, ...SETUP });
    await other.requestResult("session/close", { sessionId });
    expect((await sessions.find(sessionId))?.state).toBe("running");
    await one.requestResult("session/close", { sessionId });
    expect(await asked).toEqual({ stopReason: "cancelled" });
  });
});

describe("a session that is deleted", () => {
  it("is not in the list any more, and deleting it again is as well [ACP-62]", async () => {
    const { sessions } = world(hangs("Well"));
    const client = await connectAcpClient(sessions);
    const sessionId = await client.newSession();
    const asked = client.requestResult("session/prompt", prompt(sessionId, "Go"));
    await client.waitForMessage(({ params }) => JSON.stringify(params ?? "").includes("Well"));
    await client.requestResult("session/delete", { sessionId });
    expect(await asked).toEqual({ stopReason: "cancelled" });
    expect(await listed(client)).toEqual([]);
    await client.requestResult("session/delete", { sessionId });
    expect(errorCode(await client.request("session/load", { sessionId, ...SETUP }))).toBe(-32002);
  });

  it("is the client's own [ACP-62]", async () => {
    const { sessions } = world(says("Hi"));
    const { sessionId } = await sessions.open({ principal: { id: "another", rights: [] } });
    const client = await connectAcpClient(sessions);
    await client.request("initialize");
    await client.requestResult("session/delete", { sessionId });
    expect(await sessions.find(sessionId)).toBeDefined();
  });
});

describe("a session that is forked", () => {
  it("goes on from what was said, and its source as if nothing had happened [ACP-63]", async () => {
    const { sessions, provider } = world(says("Your name is Ada"), says("Forked"), says("Source"));
    const client = await connectAcpClient(sessions);
    const source = await client.newSession();
    await prompted(client, source, "I am Ada");
    const { seq } = (await sessions.find(source)) ?? { seq: 0 };
    const { sessionId } = await client.requestResult("session/fork", {
      sessionId: source,
      ...SETUP,
    });
    expect(sessionId).not.toBe(source);
    expect((await sessions.find(source))?.seq).toBe(seq);
    expect(await prompted(client, readText(sessionId), "Who am I?")).toBe("end_turn");
    expect(provider.invocations[1]?.history).toMatchObject([
      { role: "user", blocks: [{ text: "I am Ada" }] },
      { role: "assistant", blocks: [{ text: "Your name is Ada" }] },
    ]);
    await prompted(client, source, "And here?");
    expect(provider.invocations[2]?.history).toEqual([]);
    const titles = [source, readText(sessionId)].map(
      async (id) => (await sessions.find(id))?.title,
    );
    expect(await Promise.all(titles)).toEqual(["I am Ada", "I am Ada (fork)"]);
  });
});

describe("a request that is not wanted any more", () => {
  it("ends its prompt as cancelled, and no other [ACP-108]", async () => {
    const { sessions } = world(hangs("Well"), says("Second"));
    const client = await connectAcpClient(sessions);
    const sessionId = await client.newSession();
    const first = client.request("session/prompt", prompt(sessionId, "One"));
    const second = client.request("session/prompt", prompt(sessionId, "Two"));
    await client.waitForMessage(({ params }) => JSON.stringify(params ?? "").includes("Well"));
    client.send({ jsonrpc: "2.0", method: "$/cancel_request", params: { requestId: 3 } });
    client.send({ jsonrpc: "2.0", method: "$/cancel_request", params: { requestId: "other" } });
    expect((await first)["result"]).toEqual({ stopReason: "cancelled" });
    expect((await second)["result"]).toMatchObject({ stopReason: "end_turn" });
  });

  it("is found right behind the request itself [ACP-108]", async () => {
    const { sessions } = world(hangs("Well"));
    const client = await connectAcpClient(sessions);
    const sessionId = await client.newSession();
    const first = client.request("session/prompt", prompt(sessionId, "One"));
    client.send({ jsonrpc: "2.0", method: "$/cancel_request", params: { requestId: 3 } });
    expect((await first)["result"]).toEqual({ stopReason: "cancelled" });
  });
});
