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
import { eventually } from "../../support/eventually.ts";
import {
  hangs,
  refuses,
  says,
  createScriptedProvider,
  wants,
  type ProviderScript,
} from "../../support/session/scripted-provider.ts";
import { createAgent, createTool, openSessions } from "../../support/session/session-world.ts";

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

describe("Offered capabilities", () => {
  it("Exactly the offered methods are served [ACP-24] [ACP-36]", async () => {
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

describe("Credentials", () => {
  it("The offered authentication method succeeds and any other is rejected [ACP-26] [ACP-32]", async () => {
    const { sessions } = world(says("Hi"));
    const client = await connectAcpClient(sessions);
    const { authMethods } = await client.requestResult("initialize");
    const [method] = Array.isArray(authMethods) ? authMethods : [];
    const methodId = isObject(method) ? method["id"] : "";
    expect(await client.requestResult("authenticate", { methodId })).toEqual({});
    expect(errorCode(await client.request("authenticate", { methodId: "other" }))).toBe(-32602);
  });

  it("Missing credentials have their own error code and are read again after authenticate [ACP-33] [ACP-34]", async () => {
    const { sessions } = world(refuses("no_credentials"), says("Hi"));
    const client = await connectAcpClient(sessions);
    const sessionId = await client.newSession();
    const answer = await client.request("session/prompt", prompt(sessionId, "Hello"));
    expect(answer["error"]).toMatchObject({ code: -32000, data: { code: "no_credentials" } });
    await client.requestResult("authenticate", { methodId: "environment" });
    expect(await prompted(client, sessionId, "Again")).toBe("end_turn");
  });
});

describe("List of sessions", () => {
  it("The list contains the client's own sessions by folder, page by page [ACP-50] [ACP-53]", async () => {
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
        _meta: { harn: { state: "idle" } },
      },
    ]);
  });

  it("The list changes with activity in a session [ACP-53]", async () => {
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

  it("The list has the state of each session: idle, running, or waiting for a person", async () => {
    const provider = createScriptedProvider([
      says("Hi"),
      hangs(),
      wants({ id: "c1", name: "look" }),
    ]);
    const tools = [createTool({ name: "look" }, () => "seen")];
    const approvals = { deny: [], ask: ["look"], allow: [], default: "deny" } as const;
    const agent = createAgent({ provider, tools, approvals });
    const sessions = openSessions(createMemoryStore(), agent);
    onTestFinished(() => sessions.close());
    const client = await connectAcpClient(sessions);
    const [idle, running, waiting] = [
      await client.newSession(),
      readText((await client.requestResult("session/new", SETUP))["sessionId"]),
      readText((await client.requestResult("session/new", SETUP))["sessionId"]),
    ];
    await prompted(client, idle, "Hello");
    void client.request("session/prompt", prompt(running, "Work"));
    await eventually(() => expect(provider.invocations).toHaveLength(2));
    void client.request("session/prompt", prompt(waiting, "Look"));
    await client.waitForMessage(({ method }) => method === "session/request_permission");
    const states = (await listed(client)).map(({ sessionId, _meta }) => [sessionId, _meta]);
    expect(new Map(states as [unknown, unknown][])).toEqual(
      new Map([
        [idle, { harn: { state: "idle" } }],
        [running, { harn: { state: "running" } }],
        [waiting, { harn: { state: "waiting" } }],
      ]),
    );
  });

  it("An invalid cursor or folder is rejected [ACP-51]", async () => {
    const { sessions } = world(says("Hi"));
    const client = await connectAcpClient(sessions);
    await client.request("initialize");
    for (const params of [{ cursor: "nowhere" }, { cursor: 7 }, { cwd: "relative" }])
      expect(errorCode(await client.request("session/list", params))).toBe(-32602);
  });
});

describe("Session title", () => {
  it("The title is the first prompt until it is set [ACP-52]", async () => {
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

  it("A title set at opening is kept [ACP-52]", async () => {
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

describe("Resumed session", () => {
  it("A resumed session sends only later updates [ACP-57]", async () => {
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

  it("An unknown session cannot be resumed, forked or closed [ACP-58]", async () => {
    const { sessions } = world(says("First"));
    const client = await connectAcpClient(sessions);
    await client.request("initialize");
    for (const method of ["session/resume", "session/fork", "session/close"]) {
      const answer = await client.request(method, { sessionId: "nowhere", ...SETUP });
      expect(answer["error"]).toMatchObject({ code: -32002, data: { sessionId: "nowhere" } });
    }
  });
});

describe("Closed session", () => {
  it("Closing cancels the client's prompt, and the session can be closed and used again [ACP-61]", async () => {
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

  it("Closing does not end another client's turn", async () => {
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

describe("Deleted session", () => {
  it("A deleted session is not listed, and deleting it again succeeds [ACP-62]", async () => {
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

  it("Another user's session is not deleted [ACP-62]", async () => {
    const { sessions } = world(says("Hi"));
    const { sessionId } = await sessions.open({ principal: { id: "another", rights: [] } });
    const client = await connectAcpClient(sessions);
    await client.request("initialize");
    await client.requestResult("session/delete", { sessionId });
    expect(await sessions.find(sessionId)).toBeDefined();
  });
});

describe("Forked session", () => {
  it("A fork continues with the history and leaves its source unchanged [ACP-63]", async () => {
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

describe("Cancelled request", () => {
  it("A cancelled request ends its own prompt and no other [ACP-108]", async () => {
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

  it("A cancellation directly after its request takes effect [ACP-108]", async () => {
    const { sessions } = world(hangs("Well"));
    const client = await connectAcpClient(sessions);
    const sessionId = await client.newSession();
    const first = client.request("session/prompt", prompt(sessionId, "One"));
    client.send({ jsonrpc: "2.0", method: "$/cancel_request", params: { requestId: 3 } });
    expect((await first)["result"]).toEqual({ stopReason: "cancelled" });
  });
});
