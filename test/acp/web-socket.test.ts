import { describe, expect, it } from "vitest";
import { isObject } from "../../src/domain/json.ts";
import { acpClient, asText, type AcpTalk, type Message } from "../support/acp-client.ts";
import { acpServer, TOKEN } from "../support/acp-socket.ts";
import { equippedSessions } from "../support/equipped-sessions.ts";
import { fakeClock, passing } from "../support/fake-clock.ts";
import { eventually } from "../support/eventually.ts";
import { hangs, says, wants } from "../support/scripted-provider.ts";
import { tool } from "../support/session-world.ts";

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

function texts(client: AcpTalk): string[] {
  return client
    .updates()
    .flatMap(({ content }) => (isObject(content) ? [asText(content["text"])] : []));
}

describe("/acp", () => {
  it("serves the same sessions as standard input and output, one message in a frame [ACP-139]", async () => {
    const { sessions } = equippedSessions([says("Over the wire"), says("And on")]);
    const server = await acpServer(sessions);
    const client = await server.connect();
    const sessionId = await client.begin();
    expect(await client.result("session/prompt", prompt(sessionId))).toEqual({
      stopReason: "end_turn",
    });
    const editor = await acpClient(sessions, { principal: LOCAL });
    await editor.ask("initialize");
    await editor.result("session/load", { sessionId, ...SETUP });
    expect(texts(editor)).toEqual(["Go", "Over the wire"]);
    await editor.result("session/prompt", prompt(sessionId, "More"));
    await client.find(({ params }) => JSON.stringify(params ?? "").includes("And on"));
    expect(server.reports).toEqual([]);
  });

  it("is opened to nobody without a key, where there are keys, and to no page of others [ACP-139]", async () => {
    const { sessions } = equippedSessions([says("Hi")]);
    const server = await acpServer(sessions, { keys: [ADA] });
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

  it("is opened to nobody with a wrong token, also where none is needed: it could not answer, and not know why", async () => {
    const { sessions } = equippedSessions([says("Hi")]);
    const server = await acpServer(sessions);
    const wrong = { authorization: "Bearer undefined" };
    await expect(server.connect(wrong)).rejects.toThrow("401");
    const client = await server.connect({});
    expect(await client.begin()).toMatch(/^ses_/);
  });

  it("lets a program without a key prompt, and neither approve, nor choose a folder, nor bring servers", async () => {
    const provider = [wants({ id: "c1", name: "save", input: {} }), says("Well.")];
    const { sessions, log } = equippedSessions(provider, {
      tools: [tool({ name: "save" }, () => "saved")],
      approvals: { deny: [], ask: ["save"], allow: [], otherwise: "deny" },
    });
    const server = await acpServer(sessions);
    const client = await server.connect({});
    await client.ask("initialize", {
      clientCapabilities: { _meta: { harn: { hostTools: true } } },
    });
    const refused = await client.ask("session/new", { cwd: "/work", mcpServers: [PROGRAM] });
    expect(errorOf(refused)).toMatchObject({ data: { code: "access_denied" } });
    const { sessionId } = await client.result("session/new", SETUP);
    expect(await sessions.find(asText(sessionId))).toMatchObject({ workingDirectory: null });
    const done = client.ask("session/prompt", prompt(asText(sessionId)));
    await eventually(async () =>
      expect((await log(asText(sessionId))).map(({ event }) => event.type)).toContain(
        "approval.requested",
      ),
    );
    const user = await server.connect();
    await user.ask("initialize");
    await user.result("session/load", { sessionId, ...SETUP });
    const asked = await user.find(({ method }) => method === "session/request_permission");
    const outcome = { outcome: "selected", optionId: "allow" };
    user.send({ jsonrpc: "2.0", id: asked["id"], result: { outcome } });
    expect((await done)["result"]).toEqual({ stopReason: "end_turn" });
    const methods = client.messages.map(({ method }) => method);
    expect(methods).not.toContain("session/request_permission");
    expect(methods).not.toContain("host/tools/list");
    const gone = await client.ask("session/delete", { sessionId });
    expect(errorOf(gone)).toMatchObject({ data: { code: "access_denied" } });
  });

  it("lets a program without a key end what it asked itself, and nothing that the user did", async () => {
    const { sessions, log } = equippedSessions([hangs("One"), hangs("Two")]);
    const server = await acpServer(sessions);
    const user = await server.connect();
    const sessionId = await user.begin();
    const asked = user.ask("session/prompt", prompt(sessionId));
    const client = await server.connect({});
    await client.ask("initialize");
    await client.result("session/load", { sessionId, ...SETUP });
    const cancel = { jsonrpc: "2.0", method: "session/cancel", params: { sessionId } };
    client.send(cancel);
    await client.result("session/close", { sessionId });
    expect((await log(sessionId)).map(({ event }) => event.type)).not.toContain("turn.finished");
    user.send(cancel);
    expect((await asked)["result"]).toEqual({ stopReason: "cancelled" });
    const own = client.ask("session/prompt", prompt(sessionId));
    client.send(cancel);
    expect((await own)["result"]).toEqual({ stopReason: "cancelled" });
  });

  it("takes no servers from others than this machine's user, and shows nobody another's sessions", async () => {
    const { sessions } = equippedSessions([says("Hi")]);
    const server = await acpServer(sessions, { keys: [ADA] });
    const ada = await server.connect({ authorization: `Bearer ${KEY}` });
    await ada.ask("initialize");
    const refused = await ada.ask("session/new", { cwd: "/work", mcpServers: [PROGRAM] });
    expect(errorOf(refused)["message"]).toContain("this machine's user alone");
    const { sessionId } = await ada.result("session/new", SETUP);
    const user = await server.connect();
    await user.ask("initialize");
    const answer = await user.ask("session/load", { sessionId, ...SETUP });
    expect(errorOf(answer)["code"]).toBe(-32002);
  });

  it("takes the folder and the servers of this machine's user", async () => {
    const { sessions, log } = equippedSessions([says("Hi")]);
    const server = await acpServer(sessions);
    const user = await server.connect();
    await user.ask("initialize");
    const { sessionId } = await user.result("session/new", {
      cwd: "/work",
      mcpServers: [{ ...PROGRAM, command: "/nothing/there" }],
    });
    const said = JSON.stringify(await log(asText(sessionId)));
    expect(said).toContain("The MCP server h");
  });

  it("gives a key that is for other agents none of these", async () => {
    const { sessions } = equippedSessions([says("Hi")]);
    const server = await acpServer(sessions, { keys: [{ ...ADA, agents: ["other"] }] });
    const ada = await server.connect({ authorization: `Bearer ${KEY}` });
    await ada.ask("initialize");
    expect(errorOf(await ada.ask("session/new", SETUP))).toMatchObject({
      data: { code: "access_denied" },
    });
  });

  it.each([
    ["session/prompt", { prompt: [{ type: "text", text: "Hello" }] }],
    ["session/set_mode", { modeId: "ask" }],
  ])("counts what is asked: %s", async (method, params) => {
    const { sessions } = equippedSessions([says("Hi")]);
    const server = await acpServer(sessions, {
      keys: [ADA],
      rates: { requestsPerMinute: 1, burst: 2 },
    });
    const ada = await server.connect({ authorization: `Bearer ${KEY}` });
    await ada.ask("initialize");
    const { sessionId } = await ada.result("session/new", SETUP);
    const answer = await ada.ask(method, { ...params, sessionId });
    expect(errorOf(answer)).toMatchObject({ data: { code: "throttled" } });
  });

  it("lets no more turns of a key run than it may have, over all its connections", async () => {
    const { sessions } = equippedSessions([hangs(), says("Hi"), says("Again")]);
    const server = await acpServer(sessions, { keys: [ADA], rates: { turns: 1 } });
    const authorization = `Bearer ${KEY}`;
    const one = await server.connect({ authorization });
    const first = await one.begin();
    const running = one.ask("session/prompt", prompt(first));
    await one.find(() => texts(one).length > 0);
    const other = await server.connect({ authorization });
    const second = await other.begin();
    const refused = await other.ask("session/prompt", prompt(second));
    expect(errorOf(refused)).toMatchObject({ data: { code: "throttled" } });
    one.send({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId: first } });
    expect((await running)["result"]).toEqual({ stopReason: "cancelled" });
    expect(await other.result("session/prompt", prompt(second))).toEqual({
      stopReason: "end_turn",
    });
  });

  it("counts no turn of a client that has left", async () => {
    const { sessions } = equippedSessions([hangs(), says("Hi")]);
    const server = await acpServer(sessions, { keys: [ADA], rates: { turns: 1 } });
    const authorization = `Bearer ${KEY}`;
    const one = await server.connect({ authorization });
    const first = await one.begin();
    void one.ask("session/prompt", prompt(first));
    await one.find(() => texts(one).length > 0);
    await one.cut();
    const other = await server.connect({ authorization });
    const second = await other.begin();
    await eventually(async () => {
      const answer = await other.ask("session/prompt", prompt(second));
      expect(answer["result"]).toEqual({ stopReason: "end_turn" });
    });
  });

  it("answers what is no message, and goes on [W-47]", async () => {
    const { sessions } = equippedSessions([says("Hi")]);
    const server = await acpServer(sessions);
    const client = await server.connect();
    client.socket.send(Buffer.from([0, 1, 2]));
    client.socket.send("{");
    client.socket.send("[]");
    await client.ask("initialize");
    const codes = client.messages.map((message) => errorOf(message)["code"]);
    // What is no text does not wait for its turn.
    expect(codes).toEqual([-32600, -32700, -32600, undefined]);
  });

  it("takes messages as long as standard input does, and ends with one that is longer [ACP-16]", async () => {
    const { sessions } = equippedSessions([says("Hi")]);
    const server = await acpServer(sessions);
    const [client, other] = [await server.connect(), await server.connect()];
    const sessionId = await client.begin();
    const answer = await client.ask("session/prompt", prompt(sessionId, "x".repeat(12_000_000)));
    expect(errorOf(answer)["code"]).not.toBe(-32700);
    client.socket.send("x".repeat(16 * 1024 * 1024 + 1));
    expect(await client.closed).toBe(1009);
    expect(await other.begin()).toMatch(/^ses_/);
  });

  it("takes all that an editor says in one breath, and its sessions do not wait for each other [W-41]", async () => {
    const { sessions } = equippedSessions([hangs("Well"), says("Hi")]);
    const server = await acpServer(sessions);
    const client = await server.connect();
    await client.ask("initialize");
    const begun = await Promise.all(
      Array.from({ length: 100 }, () => client.result("session/new", SETUP)),
    );
    const [first, ...others] = begun.map(({ sessionId }) => asText(sessionId));
    void client.ask("session/prompt", prompt(first ?? ""));
    await client.find(({ params }) => JSON.stringify(params ?? "").includes("Well"));
    const ends = await Promise.all(
      others.map((sessionId) => client.result("session/prompt", prompt(sessionId))),
    );
    expect(ends.every(({ stopReason }) => stopReason === "end_turn")).toBe(true);
  });

  it("cuts off a client that does not answer pings, detaches it, and nobody else [W-42]", async () => {
    const clock = fakeClock();
    const { sessions, log } = equippedSessions([says("Hi")]);
    const server = await acpServer(sessions, {}, clock);
    const client = await server.connect();
    const sessionId = await client.begin();
    const other = await server.connect();
    await other.ask("initialize");
    client.socket.pause();
    for (let isDetached = false; !isDetached;) {
      clock.advance(1000);
      // The other one is there: it has answered what it was asked before it hears of this.
      await other.ask("session/list");
      isDetached = (await log(sessionId)).some(({ event }) => event.type === "client.detached");
    }
    expect((await other.result("session/list"))["sessions"]).toHaveLength(1);
    client.socket.terminate();
    await passing(clock, server.close());
  });

  it("ends its connections with the server", async () => {
    const { sessions } = equippedSessions([says("Hi")]);
    const server = await acpServer(sessions);
    const client = await server.connect();
    await client.begin();
    await server.close();
    expect(await client.closed).toBe(1001);
  });
});
