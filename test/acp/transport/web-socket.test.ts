import { describe, expect, it } from "vitest";
import { isObject } from "../../../src/data/json.ts";
import {
  connectAcpClient,
  readText,
  type AcpPeer,
  type Message,
} from "../../support/acp/acp-client.ts";
import { startAcpServer, TOKEN } from "../../support/acp/acp-server.ts";
import { createClientToolSessions } from "../../support/session/client-tool-sessions.ts";
import { createFakeClock, advanceUntil } from "../../support/fake-clock.ts";
import { eventually } from "../../support/eventually.ts";
import { hangs, says, wants } from "../../support/session/scripted-provider.ts";
import { createTool } from "../../support/session/session-world.ts";

const KEY = "sk-a-key-for-tests-only";
const ADA = { name: "ada", key: KEY, rights: ["prompt", "approve", "control"] } as const;
const SETUP = { cwd: "/work", mcpServers: [] };
const PROGRAM = { name: "h", command: "/bin/true", args: [], env: [] };
const LOCAL = { id: "local", rights: ["prompt", "approve", "control"] } as const;

function prompt(sessionId: string, text = "Go"): object {
  return { sessionId, prompt: [{ type: "text", text }] };
}

function errorOf({ error }: Message): Message {
  return isObject(error) ? error : {};
}

function texts(client: AcpPeer): string[] {
  return client
    .listUpdates()
    .flatMap(({ content }) => (isObject(content) ? [readText(content["text"])] : []));
}

describe("/acp over WebSocket", () => {
  it("The same sessions as on stdio are served, with a message per frame [ACP-139]", async () => {
    const { sessions } = createClientToolSessions([says("Over the wire"), says("And on")]);
    const server = await startAcpServer(sessions);
    const client = await server.connect();
    const sessionId = await client.newSession();
    expect(await client.requestResult("session/prompt", prompt(sessionId))).toEqual({
      stopReason: "end_turn",
    });
    const editor = await connectAcpClient(sessions, { principal: LOCAL });
    await editor.request("initialize");
    await editor.requestResult("session/load", { sessionId, ...SETUP });
    expect(texts(editor)).toEqual(["Go", "Over the wire"]);
    await editor.requestResult("session/prompt", prompt(sessionId, "More"));
    await client.waitForMessage(({ params }) => JSON.stringify(params ?? "").includes("And on"));
    expect(server.reports).toEqual([]);
  });

  it("A connection without a configured key or from a foreign page is refused [ACP-139]", async () => {
    const { sessions } = createClientToolSessions([says("Hi")]);
    const server = await startAcpServer(sessions, { keys: [ADA] });
    const refused = (headers: { readonly [name: string]: string }): Promise<unknown> =>
      server.connect(headers).then(
        () => "open",
        (error: unknown) => String(error),
      );
    expect(await refused({})).toContain("401");
    expect(await refused({ authorization: "Bearer sk-another-key-of-nobody" })).toContain("401");
    const authorization = `Bearer ${KEY}`;
    expect(await refused({ authorization, origin: "https://evil.example" })).toContain("403");
    expect(await refused({ authorization, host: "evil.example" })).toContain("403");
    expect(await refused({ authorization })).toBe("open");
    expect(await refused({ authorization: `Bearer ${TOKEN}` })).toBe("open");
  });

  it("A wrong token is refused even if no token is required", async () => {
    const { sessions } = createClientToolSessions([says("Hi")]);
    const server = await startAcpServer(sessions);
    const wrong = { authorization: "Bearer undefined" };
    await expect(server.connect(wrong)).rejects.toThrow("401");
    const client = await server.connect({});
    expect(await client.newSession()).toMatch(/^ses_/);
  });

  it("A client without a key can prompt, but not approve, choose a folder or add MCP servers", async () => {
    const provider = [wants({ id: "c1", name: "save", input: {} }), says("Well.")];
    const { sessions, readLog } = createClientToolSessions(provider, {
      tools: [createTool({ name: "save" }, () => "saved")],
      approvals: { deny: [], ask: ["save"], allow: [], default: "deny" },
    });
    const server = await startAcpServer(sessions);
    const client = await server.connect({});
    await client.request("initialize", {
      clientCapabilities: { _meta: { harn: { hostTools: true } } },
    });
    const refused = await client.request("session/new", { cwd: "/work", mcpServers: [PROGRAM] });
    expect(errorOf(refused)).toMatchObject({ data: { code: "access_denied" } });
    const { sessionId } = await client.requestResult("session/new", SETUP);
    expect(await sessions.find(readText(sessionId))).toMatchObject({ workingDirectory: null });
    const done = client.request("session/prompt", prompt(readText(sessionId)));
    await eventually(async () =>
      expect((await readLog(readText(sessionId))).map(({ event }) => event.type)).toContain(
        "approval.requested",
      ),
    );
    const user = await server.connect();
    await user.request("initialize");
    await user.requestResult("session/load", { sessionId, ...SETUP });
    const permissionRequest = await user.waitForMessage(
      ({ method }) => method === "session/request_permission",
    );
    const outcome = { outcome: "selected", optionId: "allow" };
    user.send({ jsonrpc: "2.0", id: permissionRequest["id"], result: { outcome } });
    expect((await done)["result"]).toEqual({ stopReason: "end_turn" });
    const methods = client.messages.map(({ method }) => method);
    expect(methods).not.toContain("session/request_permission");
    expect(methods).not.toContain("host/tools/list");
    const gone = await client.request("session/delete", { sessionId });
    expect(errorOf(gone)).toMatchObject({ data: { code: "access_denied" } });
  });

  it("A client without a key can cancel its own turns, but not the user's", async () => {
    const { sessions, readLog: log } = createClientToolSessions([hangs("One"), hangs("Two")]);
    const server = await startAcpServer(sessions);
    const user = await server.connect();
    const sessionId = await user.newSession();
    const promptResult = user.request("session/prompt", prompt(sessionId));
    const client = await server.connect({});
    await client.request("initialize");
    await client.requestResult("session/load", { sessionId, ...SETUP });
    const cancel = { jsonrpc: "2.0", method: "session/cancel", params: { sessionId } };
    client.send(cancel);
    await client.requestResult("session/close", { sessionId });
    expect((await log(sessionId)).map(({ event }) => event.type)).not.toContain("turn.finished");
    user.send(cancel);
    expect((await promptResult)["result"]).toEqual({ stopReason: "cancelled" });
    const own = client.request("session/prompt", prompt(sessionId));
    client.send(cancel);
    expect((await own)["result"]).toEqual({ stopReason: "cancelled" });
  });

  it("Only the local user can add MCP servers, and sessions of other users are not found", async () => {
    const { sessions } = createClientToolSessions([says("Hi")]);
    const server = await startAcpServer(sessions, { keys: [ADA] });
    const ada = await server.connect({ authorization: `Bearer ${KEY}` });
    await ada.request("initialize");
    const refused = await ada.request("session/new", { cwd: "/work", mcpServers: [PROGRAM] });
    expect(errorOf(refused)["message"]).toContain("Only the local user can add MCP servers");
    const { sessionId } = await ada.requestResult("session/new", SETUP);
    const user = await server.connect();
    await user.request("initialize");
    const answer = await user.request("session/load", { sessionId, ...SETUP });
    expect(errorOf(answer)["code"]).toBe(-32002);
  });

  it("The local user's folder and MCP servers are used", async () => {
    const { sessions, readLog: log } = createClientToolSessions([says("Hi")]);
    const server = await startAcpServer(sessions);
    const user = await server.connect();
    await user.request("initialize");
    const { sessionId } = await user.requestResult("session/new", {
      cwd: "/work",
      mcpServers: [{ ...PROGRAM, command: "/nothing/there" }],
    });
    const jsonText = JSON.stringify(await log(readText(sessionId)));
    expect(jsonText).toContain("The MCP server h");
  });

  it("A key for other agents cannot use this agent", async () => {
    const { sessions } = createClientToolSessions([says("Hi")]);
    const server = await startAcpServer(sessions, { keys: [{ ...ADA, agents: ["other"] }] });
    const ada = await server.connect({ authorization: `Bearer ${KEY}` });
    await ada.request("initialize");
    expect(errorOf(await ada.request("session/new", SETUP))).toMatchObject({
      data: { code: "access_denied" },
    });
  });

  it.each([
    ["session/prompt", { prompt: [{ type: "text", text: "Hello" }] }],
    ["session/set_mode", { modeId: "ask" }],
  ])("Requests are rate-limited: %s", async (method, params) => {
    const { sessions } = createClientToolSessions([says("Hi")]);
    const server = await startAcpServer(sessions, {
      keys: [ADA],
      rates: { requestsPerMinute: 1, burst: 2 },
    });
    const ada = await server.connect({ authorization: `Bearer ${KEY}` });
    await ada.request("initialize");
    const { sessionId } = await ada.requestResult("session/new", SETUP);
    const answer = await ada.request(method, { ...params, sessionId });
    expect(errorOf(answer)).toMatchObject({ data: { code: "throttled" } });
  });

  it("The limit of concurrent turns of a key applies to all its connections", async () => {
    const { sessions } = createClientToolSessions([hangs(), says("Hi"), says("Again")]);
    const server = await startAcpServer(sessions, { keys: [ADA], rates: { turns: 1 } });
    const authorization = `Bearer ${KEY}`;
    const one = await server.connect({ authorization });
    const first = await one.newSession();
    const running = one.request("session/prompt", prompt(first));
    await one.waitForMessage(() => texts(one).length > 0);
    const other = await server.connect({ authorization });
    const second = await other.newSession();
    const refused = await other.request("session/prompt", prompt(second));
    expect(errorOf(refused)).toMatchObject({ data: { code: "throttled" } });
    one.send({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId: first } });
    expect((await running)["result"]).toEqual({ stopReason: "cancelled" });
    expect(await other.requestResult("session/prompt", prompt(second))).toEqual({
      stopReason: "end_turn",
    });
  });

  it("A turn of a disconnected client does not count", async () => {
    const { sessions } = createClientToolSessions([hangs(), says("Hi")]);
    const server = await startAcpServer(sessions, { keys: [ADA], rates: { turns: 1 } });
    const authorization = `Bearer ${KEY}`;
    const one = await server.connect({ authorization });
    const first = await one.newSession();
    void one.request("session/prompt", prompt(first));
    await one.waitForMessage(() => texts(one).length > 0);
    await one.disconnect();
    const other = await server.connect({ authorization });
    const second = await other.newSession();
    await eventually(async () => {
      const answer = await other.request("session/prompt", prompt(second));
      expect(answer["result"]).toEqual({ stopReason: "end_turn" });
    });
  });

  it("An invalid message is answered and the connection continues [W-47]", async () => {
    const { sessions } = createClientToolSessions([says("Hi")]);
    const server = await startAcpServer(sessions);
    const client = await server.connect();
    client.socket.send(Buffer.from([0, 1, 2]));
    client.socket.send("{");
    client.socket.send("[]");
    await client.request("initialize");
    const codes = client.messages.map((message) => errorOf(message)["code"]);
    // A binary frame is rejected at once, before the queued text messages.
    expect(codes).toEqual([-32600, -32700, -32600, undefined]);
  });

  it("A message up to 16 MiB is accepted and a longer message closes the connection [ACP-16]", async () => {
    const { sessions } = createClientToolSessions([says("Hi")]);
    const server = await startAcpServer(sessions);
    const [client, other] = [await server.connect(), await server.connect()];
    const sessionId = await client.newSession();
    const answer = await client.request(
      "session/prompt",
      prompt(sessionId, "x".repeat(12_000_000)),
    );
    expect(errorOf(answer)["code"]).not.toBe(-32700);
    client.socket.send("x".repeat(16 * 1024 * 1024 + 1));
    expect(await client.closeCode).toBe(1009);
    expect(await other.newSession()).toMatch(/^ses_/);
  });

  it("A burst of requests is served, and sessions do not wait for each other [W-41]", async () => {
    const { sessions } = createClientToolSessions([hangs("Well"), says("Hi")]);
    const server = await startAcpServer(sessions);
    const client = await server.connect();
    await client.request("initialize");
    const begun = await Promise.all(
      Array.from({ length: 100 }, () => client.requestResult("session/new", SETUP)),
    );
    const [first, ...others] = begun.map(({ sessionId }) => readText(sessionId));
    void client.request("session/prompt", prompt(first ?? ""));
    await client.waitForMessage(({ params }) => JSON.stringify(params ?? "").includes("Well"));
    const ends = await Promise.all(
      others.map((sessionId) => client.requestResult("session/prompt", prompt(sessionId))),
    );
    expect(ends.every(({ stopReason }) => stopReason === "end_turn")).toBe(true);
  });

  it("A client that does not answer pings is disconnected and detached, and other clients are not affected [W-42]", async () => {
    const clock = createFakeClock();
    const { sessions, readLog: log } = createClientToolSessions([says("Hi")]);
    const server = await startAcpServer(sessions, {}, clock);
    const client = await server.connect();
    const sessionId = await client.newSession();
    const other = await server.connect();
    await other.request("initialize");
    client.socket.pause();
    for (let isDetached = false; !isDetached;) {
      clock.advance(1000);
      // The other client is responsive: it has answered its ping before this response.
      await other.request("session/list");
      isDetached = (await log(sessionId)).some(({ event }) => event.type === "client.detached");
    }
    expect((await other.requestResult("session/list"))["sessions"]).toHaveLength(1);
    client.socket.terminate();
    await advanceUntil(clock, server.close());
  });

  it("Closing the server closes its connections", async () => {
    const { sessions } = createClientToolSessions([says("Hi")]);
    const server = await startAcpServer(sessions);
    const client = await server.connect();
    await client.newSession();
    await server.close();
    expect(await client.closeCode).toBe(1001);
  });
});
