import { describe, expect, it } from "vitest";
import { startAcpServer, TOKEN, type AcpServer } from "../../support/acp/acp-server.ts";
import { createClientToolSessions } from "../../support/session/client-tool-sessions.ts";
import { createFakeClock, advanceUntil } from "../../support/fake-clock.ts";
import { eventually } from "../../support/eventually.ts";
import { hangs, says, wants } from "../../support/session/scripted-provider.ts";
import { connectHttpClient } from "../../support/acp/sdk-clients.ts";
import { createTool } from "../../support/session/session-world.ts";

const authorization = `Bearer ${TOKEN}`;
const KEY = "sk-a-key-for-tests-only";
const ADA = { name: "ada", key: KEY, rights: ["prompt", "approve", "control"] } as const;
const approvals = { deny: [], ask: ["save"], allow: [], default: "deny" } as const;

/** Characters. Several times the buffer limit of a client. */
const MUCH = 2_000_000;

type Headers = { readonly [name: string]: string };

function message(method: string, params: object, id: unknown = 1): string {
  return JSON.stringify({ jsonrpc: "2.0", id, method, params });
}

const INITIALIZE = message("initialize", { protocolVersion: 1 });

function post({ url }: AcpServer, body: string, headers: Headers = {}): Promise<Response> {
  return fetch(`${url}/acp`, {
    method: "POST",
    headers: { authorization, "content-type": "application/json", ...headers },
    body,
  });
}

async function connected(server: AcpServer, headers: Headers = {}): Promise<Headers> {
  const answer = await post(server, INITIALIZE, headers);
  expect(answer.status).toBe(200);
  const id = answer.headers.get("acp-connection-id") ?? "";
  expect(id).toMatch(/^[\w-]{32}$/);
  return { ...headers, "acp-connection-id": id };
}

/** Resolves after the server has served another request. */
async function turned({ url }: AcpServer): Promise<number> {
  const { status } = await fetch(`${url}/healthz`);
  return status;
}

function stream({ url }: AcpServer, headers: Headers): Promise<Response> {
  return fetch(`${url}/acp`, {
    headers: { authorization, accept: "text/event-stream", ...headers },
  });
}

/** `waitForText` resolves with the first group of a pattern as soon as the stream matches. */
function reading({ body }: Response) {
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const waitForText = async (pattern: RegExp): Promise<string> => {
    while (!pattern.test(text)) {
      const { value } = (await reader?.read()) ?? {};
      if (value === undefined) throw new Error(`The stream ended: ${text}`);
      text += value;
    }
    return pattern.exec(text)?.[1] ?? "";
  };
  return { waitForText, text: () => text, cancel: async () => reader?.cancel() };
}

describe("ACP over HTTP", () => {
  it("The official client runs a session with a permission request, a cancel and a queue [ACP-139]", async () => {
    const script = [
      wants({ id: "c1", name: "save", input: {} }),
      says("Saved."),
      hangs("Wait"),
      says("One"),
      says("Two"),
    ];
    const save = createTool({ name: "save" }, () => "saved");
    const { sessions } = createClientToolSessions(script, { tools: [save], approvals });
    const server = await startAcpServer(sessions);
    const client = await connectHttpClient(`${server.url}/acp`, { authorization });
    const sessionId = await client.newSession("/work");
    expect(await client.prompt(sessionId, "Save it")).toBe("end_turn");
    expect(client.permissionTitles).toEqual(["save"]);
    const cancelled = client.prompt(sessionId, "Go on");
    await client.waitForUpdate("agent_message_chunk: Wait");
    await client.cancel(sessionId);
    expect(await cancelled).toBe("cancelled");
    const both = [client.prompt(sessionId, "a"), client.prompt(sessionId, "b")];
    expect(await Promise.all(both)).toEqual(["end_turn", "end_turn"]);
    const agentChunks = client.receivedUpdates.filter((one) =>
      one.startsWith("agent_message_chunk"),
    );
    expect(agentChunks.map((one) => one.slice("agent_message_chunk: ".length))).toEqual([
      "Let me see.",
      "Saved.",
      "Wait",
      "One",
      "Two",
    ]);
    expect(server.reports).toEqual([]);
  });

  it("A host with the updates setting is asked for tools, and only the local user for shells [B-022]", async () => {
    const { sessions } = createClientToolSessions([says("Hi")]);
    const keys = [ADA];
    const server = await startAcpServer(sessions, { updates: "bridge", keys });
    const own = reading(await stream(server, await connected(server)));
    await own.waitForText(/"method":"(host\/tools\/list)"/);
    await own.waitForText(/(process\.list_shells)/);
    const ada = { authorization: `Bearer ${KEY}` };
    const other = reading(await stream(server, await connected(server, ada)));
    await other.waitForText(/"method":"(host\/tools\/list)"/);
    await turned(server);
    expect(other.text()).not.toContain("list_shells");
    for (const { cancel } of [own, other]) await cancel();
  });

  it("Sessions of other connections are served with their history [ACP-139]", async () => {
    const { sessions } = createClientToolSessions([says("Over a socket"), says("Over HTTP")]);
    const server = await startAcpServer(sessions);
    const socket = await server.connect();
    const sessionId = await socket.newSession();
    await socket.requestResult("session/prompt", {
      sessionId,
      prompt: [{ type: "text", text: "Go" }],
    });
    const client = await connectHttpClient(`${server.url}/acp`, { authorization });
    await client.loadSession(sessionId, "/work");
    await client.waitForUpdate("agent_message_chunk: Over a socket");
    expect(await client.prompt(sessionId, "More")).toBe("end_turn");
    await socket.waitForMessage(({ params }) => JSON.stringify(params ?? "").includes("Over HTTP"));
  });

  it.each([
    [401, { authorization: "Bearer sk-another-key-of-nobody" }],
    [403, { origin: "https://evil.example" }],
    [415, { "content-type": "text/plain" }],
    [404, { "acp-connection-id": "none" }],
  ])("A request is refused with %i for %j [ACP-139]", async (status, headers) => {
    const { sessions } = createClientToolSessions([says("Hi")]);
    const server = await startAcpServer(sessions, { keys: [ADA] });
    const answer = await post(server, INITIALIZE, headers);
    expect(answer.status).toBe(status);
    expect(answer.headers.has("acp-connection-id")).toBe(false);
  });

  it.each([
    ["[1]", -32600],
    ["{", -32700],
    [message("session/new", { cwd: "/work" }), -32600],
  ])("The first message %s is rejected", async (text, code) => {
    const { sessions } = createClientToolSessions([says("Hi")]);
    const server = await startAcpServer(sessions);
    const answer = await post(server, text);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { code } });
  });

  it("A connection made with the token is not found without the token", async () => {
    const { sessions } = createClientToolSessions([says("Hello")]);
    const server = await startAcpServer(sessions);
    const own = await connected(server);
    const keyless = { ...own, authorization: "" };
    expect((await post(server, message("session/list", {}), keyless)).status).toBe(404);
    expect((await stream(server, keyless)).status).toBe(404);
    const ended = await fetch(`${server.url}/acp`, { method: "DELETE", headers: keyless });
    expect(ended.status).toBe(404);
    expect((await post(server, message("session/list", {}), own)).status).toBe(202);
  });

  it("A connection is not found for another caller, and streams require the right headers", async () => {
    const { sessions } = createClientToolSessions([says("Hi")]);
    const server = await startAcpServer(sessions, { keys: [ADA] });
    const own = await connected(server);
    const ada = { ...own, authorization: `Bearer ${KEY}` };
    expect((await post(server, message("session/list", {}), ada)).status).toBe(404);
    expect((await stream(server, ada)).status).toBe(404);
    expect((await stream(server, { ...own, accept: "text/html" })).status).toBe(406);
    expect((await stream(server, {})).status).toBe(400);
  });

  it("Deleting a connection detaches its client", async () => {
    const { sessions } = createClientToolSessions([says("Hi")]);
    const server = await startAcpServer(sessions);
    const { sessionId } = await sessions.open({
      principal: { id: "local", rights: ["prompt", "approve", "control"] },
    });
    const own = await connected(server);
    const events = await stream(server, own);
    const attach = { sessionId, clientId: "tui", mode: "controller" };
    expect((await post(server, message("session/attach", attach, 2), own)).status).toBe(202);
    await eventually(async () =>
      expect((await sessions.status(sessionId)).clients).toMatchObject([{ clientId: "tui" }]),
    );
    const headers = { authorization, ...own };
    const ended = await fetch(`${server.url}/acp`, { method: "DELETE", headers });
    expect(ended.status).toBe(202);
    expect((await sessions.status(sessionId)).clients).toEqual([]);
    await events.text();
    expect((await post(server, message("session/list", {}, 3), own)).status).toBe(404);
  });

  it("A batch with initialize beyond the connection limit has no effect", async () => {
    const { sessions } = createClientToolSessions([says("Hi")]);
    // The fake clock keeps idle connections from being closed.
    const server = await startAcpServer(sessions, {}, createFakeClock());
    for (let made = 0; made < 1000; made += 50) {
      await Promise.all(Array.from({ length: 50 }, () => connected(server)));
    }
    const begin = message("session/new", { cwd: "/work", mcpServers: [] }, 2);
    expect((await post(server, `[${INITIALIZE},${begin}]`)).status).toBe(503);
    const client = await server.connect();
    await client.requestResult("initialize", { protocolVersion: 1 });
    expect(await client.requestResult("session/list", {})).toMatchObject({ sessions: [] });
  });

  it("An idle connection is closed, and a connection with an open stream is kept", async () => {
    const clock = createFakeClock();
    const { sessions } = createClientToolSessions([says("Hi")], { clock });
    const server = await startAcpServer(sessions, {}, clock);
    const read = await connected(server);
    const events = await stream(server, read);
    const firstClient = await connected(server);
    clock.advance(60_000);
    await advanceUntil(clock, Promise.resolve());
    expect((await post(server, message("session/list", {}, 2), firstClient)).status).toBe(404);
    expect((await post(server, message("session/list", {}, 2), read)).status).toBe(202);
    await events.body?.cancel();
  });

  it("Unread updates are buffered up to a limit and the rest is read from the log later [ACP-14]", async () => {
    const { sessions } = createClientToolSessions([says("~".repeat(MUCH))]);
    const server = await startAcpServer(sessions);
    const own = await connected(server);
    const { waitForText, cancel } = reading(await stream(server, own));
    await post(server, message("session/new", { cwd: "/work", mcpServers: [] }, 2), own);
    const sessionId = await waitForText(/"sessionId":"(\w+)"/);
    const prompt = [{ type: "text", text: "Go" }];
    await post(server, message("session/prompt", { sessionId, prompt }, 3), own);
    await eventually(async () => expect((await sessions.find(sessionId))?.state).toBe("idle"));
    const events = await stream(server, { ...own, "acp-session-id": sessionId });
    let text = "";
    for await (const piece of events.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += piece;
      if (text.includes('"id":3')) break;
    }
    expect(text.split("~").length - 1).toBe(MUCH);
    await cancel();
  });

  it("Requests of a client that does not read are refused until it reads [ACP-14]", async () => {
    const { sessions } = createClientToolSessions([says("Hi")]);
    const server = await startAcpServer(sessions);
    const own = await connected(server);
    const batch = `[${Array.from({ length: 100 }, () => INITIALIZE).join()}]`;
    const sent: Promise<Response>[] = [];
    const flood = async (): Promise<number> => {
      const last = post(server, batch, own);
      sent.push(last);
      // An accepted request waits until its responses are read.
      const status = await Promise.race([last.then((answer) => answer.status), turned(server)]);
      return status === 429 || sent.length > 100 ? status : flood();
    };
    expect(await flood()).toBe(429);
    const events = await stream(server, own);
    const reader = events.body?.getReader();
    const reading = (async () => {
      while ((await reader?.read())?.done === false);
    })();
    const statuses = (await Promise.all(sent)).map(({ status }) => status);
    expect(statuses.at(0)).toBe(202);
    expect((await post(server, batch, own)).status).toBe(202);
    await reader?.cancel();
    await reading;
  });

  it("A session that is not read does not delay other sessions and can be closed [ACP-126]", async () => {
    const much = "~".repeat(MUCH);
    const { sessions } = createClientToolSessions([hangs(much), says("Read me")]);
    const server = await startAcpServer(sessions);
    const own = await connected(server);
    const connection = reading(await stream(server, own));
    const opened = async (id: number): Promise<string> => {
      await post(server, message("session/new", { cwd: "/work", mcpServers: [] }, id), own);
      return connection.waitForText(new RegExp(`"id":${id},"result":{"sessionId":"(\\w+)"`));
    };
    const [unread, read] = [await opened(2), await opened(3)];
    const prompt = [{ type: "text", text: "Go" }];
    await post(server, message("session/prompt", { sessionId: unread, prompt }, 4), own);
    await eventually(async () => expect((await sessions.find(unread))?.seq).toBeGreaterThan(8));
    const events = reading(await stream(server, { ...own, "acp-session-id": read }));
    await post(server, message("session/prompt", { sessionId: read, prompt }, 5), own);
    await events.waitForText(/(Read me)/);
    await events.waitForText(/("id":5)/);
    await post(server, message("session/close", { sessionId: unread }, 6), own);
    await eventually(async () => expect((await sessions.status(unread)).clients).toEqual([]));
    const late = reading(await stream(server, { ...own, "acp-session-id": unread }));
    const remainingText = await late.waitForText(/([^]*"id":6)/);
    expect(remainingText).toContain('"id":4,"result":{"stopReason":"cancelled"}');
    expect(remainingText).not.toContain("~");
    for (const one of [connection, events, late]) await one.cancel();
  });

  it("A cancelled request to a client is withdrawn in the same stream", async () => {
    const { sessions } = createClientToolSessions([
      wants({ id: "c1", name: "host__Read", input: {} }),
    ]);
    const server = await startAcpServer(sessions);
    const clientCapabilities = { _meta: { harn: { hostTools: true } } };
    const begun = await post(server, message("initialize", { clientCapabilities }));
    const own = { "acp-connection-id": begun.headers.get("acp-connection-id") ?? "" };
    const { waitForText, cancel } = reading(await stream(server, own));
    const list = await waitForText(/"id":"([^"]+)","method":"host\/tools\/list"/);
    const result = { tools: [{ name: "Read" }] };
    await post(server, JSON.stringify({ jsonrpc: "2.0", id: list, result }), own);
    await post(server, message("session/new", { cwd: "/work", mcpServers: [] }, 2), own);
    const sessionId = await waitForText(/"sessionId":"(\w+)"/);
    const prompt = [{ type: "text", text: "Go" }];
    await post(server, message("session/prompt", { sessionId, prompt }, 3), own);
    const call = await waitForText(/"id":"([^"]+)","method":"builtin_call"/);
    await post(
      server,
      JSON.stringify({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId } }),
      own,
    );
    expect(
      await waitForText(/"method":"\$\/cancel_request","params":\{"requestId":"([^"]+)"/),
    ).toBe(call);
    await cancel();
  });
});
