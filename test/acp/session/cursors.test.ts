import { describe, expect, it } from "vitest";
import { isObject } from "../../../src/data/json.ts";
import type { ProviderEvent } from "../../../src/domain/provider/provider-event.ts";
import { readText, type AcpPeer, type Message } from "../../support/acp/acp-client.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import { temporaryFile } from "../../store/sqlite-support.ts";
import { startAcpServer, type AcpServer, type SocketClient } from "../../support/acp/acp-server.ts";
import { createClientToolSessions } from "../../support/session/client-tool-sessions.ts";
import { eventually } from "../../support/eventually.ts";
import {
  createTurnEnd,
  generateMessage,
  refuses,
  says,
  wants,
  type ProviderScript,
} from "../../support/session/scripted-provider.ts";
import { createTool } from "../../support/session/session-world.ts";

const SETUP = { cwd: "/work", mcpServers: [] };

function prompt(sessionId: string): object {
  return {
    sessionId,
    prompt: [
      { type: "text", text: "First" },
      { type: "text", text: "Second" },
    ],
  };
}

/** Streams reasoning, then text in pieces, including a piece too long for a line. */
const speech: ProviderScript = async function* () {
  const delta = (block: number, text: string): ProviderEvent => {
    const type = block === 0 ? "reasoning.delta" : "text.delta";
    return { type, message: 0, block, text };
  };
  yield* generateMessage(
    [
      delta(0, "Hm"),
      delta(0, "m."),
      { type: "reasoning.end", message: 0, block: 0, text: "Hmm." },
      delta(1, "One "),
      delta(1, "two "),
      delta(1, "ä".repeat(30_000)),
      { type: "text.end", message: 0, block: 1, text: `One two ${"ä".repeat(30_000)}` },
    ],
    "end_turn",
  );
  yield createTurnEnd({ outcome: "completed", reason: "end_turn" });
};

/** Each piece is a separate event: merged pieces would share a cursor. */
const ANSWERS = [wants({ id: "c1", name: "look" }, { id: "c2", name: "look" }), speech];
const PARTS = { tools: [createTool({ name: "look" }, () => "seen")] };

function listUpdateMessages(client: AcpPeer): Message[] {
  return client.messages.filter(
    (message) =>
      (message["method"] === "session/update" || message["method"] === "_harn/agentEvent") &&
      !isListOfCommands(message),
  );
}

function cursorOf({ params, result, _meta: meta }: Message): string {
  const place = isObject(params) ? params : isObject(result) ? result : { _meta: meta };
  const found = isObject(place) ? place["_meta"] : undefined;
  const harn = isObject(found) ? found["harn"] : undefined;
  return isObject(harn) ? readText(harn["cursor"]) : "none";
}

/** The list of slash commands accompanies setup results and has no position in the log. */
function isListOfCommands(message: Message): boolean {
  return JSON.stringify(message).includes("available_commands_update");
}

/** Removes updates about attached and detached clients. */
function ofAgent(messages: readonly Message[]): Message[] {
  return messages.filter((one) => !JSON.stringify(one).includes("live_session_client"));
}

const STOCK = {};
const HOST = { _meta: { harn: {} } };

interface Resuming {
  readonly method?: "session/load" | "session/resume";
  readonly sessionId: string;
  readonly cursor: string;
  readonly clientCapabilities?: object;
}

async function resumed(
  server: AcpServer,
  { method = "session/resume", sessionId, cursor, clientCapabilities = STOCK }: Resuming,
): Promise<{ readonly client: SocketClient; readonly answer: Message }> {
  const client = await server.connect();
  await client.request("initialize", { clientCapabilities });
  const answer = await client.request(method, { sessionId, ...SETUP, _meta: { harn: { cursor } } });
  return { client, answer };
}

describe("Client that continues from a cursor", () => {
  it.each([
    ["session/load", STOCK],
    ["session/resume", STOCK],
    ["session/resume", HOST],
  ] as const)(
    "Every cursor yields exactly the later updates, by %s with %j [ACP-139] [W-33] [W-34] [W-35]",
    async (method, clientCapabilities) => {
      const { sessions } = createClientToolSessions(ANSWERS, PARTS);
      const server = await startAcpServer(sessions);
      const client = await server.connect();
      const sessionId = await client.newSession();
      const watcher = await server.connect();
      await watcher.request("initialize", { clientCapabilities });
      await watcher.requestResult("session/load", { sessionId, ...SETUP });
      await client.requestResult("session/prompt", prompt(sessionId));
      // Hosts receive more updates than the prompting client, possibly later.
      const first = await watcher.waitForMessage((message) =>
        ofAgent(listUpdateMessages(watcher)).includes(message),
      );
      const whole = await resumed(server, {
        method,
        sessionId,
        cursor: cursorOf(first),
        clientCapabilities,
      });
      const last = ofAgent(listUpdateMessages(whole.client)).map(cursorOf).at(-1);
      await eventually(() => expect(listUpdateMessages(watcher).map(cursorOf)).toContain(last));
      const all = ofAgent(listUpdateMessages(watcher));
      const cursors = all.map(cursorOf);
      expect(new Set(cursors).size).toBe(all.length);
      expect(cursors.some((cursor) => cursor.includes("+"))).toBe(true);
      for (const [index, cursor] of cursors.entries()) {
        const { client: late, answer } = await resumed(server, {
          method,
          sessionId,
          cursor,
          clientCapabilities,
        });
        expect(answer["error"]).toBe(undefined);
        expect(ofAgent(listUpdateMessages(late))).toEqual(all.slice(index + 1));
        await late.disconnect();
      }
    },
  );

  it("A cursor from before a restart continues exactly after its event, and later events have later cursors [W-33]", async () => {
    const file = temporaryFile();
    const served = async (answers: readonly ProviderScript[]) => {
      const store = await openSqliteStore({ file });
      const { sessions } = createClientToolSessions(answers, { ...PARTS, store });
      const server = await startAcpServer(sessions);
      const stop = async (): Promise<void> => {
        await server.close();
        await sessions.close();
        await store.close();
      };
      return { server, stop };
    };
    const loaded = async (server: AcpServer, sessionId: string): Promise<Message[]> => {
      const client = await server.connect();
      await client.request("initialize");
      await client.requestResult("session/load", { sessionId, ...SETUP });
      return ofAgent(listUpdateMessages(client));
    };
    const first = await served(ANSWERS);
    const client = await first.server.connect();
    const sessionId = await client.newSession();
    await client.requestResult("session/prompt", prompt(sessionId));
    const before = (await loaded(first.server, sessionId)).map(cursorOf);
    await first.stop();

    const second = await served([says("Later")]);
    const next = await second.server.connect();
    await next.request("initialize");
    await next.requestResult("session/resume", { sessionId, ...SETUP });
    await next.requestResult("session/prompt", prompt(sessionId));
    const all = await loaded(second.server, sessionId);
    const cursors = all.map(cursorOf);
    expect(cursors.slice(0, before.length)).toEqual(before);
    expect(new Set(cursors).size).toBe(all.length);
    expect(all.length).toBeGreaterThan(before.length);
    for (const [index, cursor] of before.entries()) {
      const late = await resumed(second.server, { method: "session/load", sessionId, cursor });
      expect(ofAgent(listUpdateMessages(late.client))).toEqual(all.slice(index + 1));
      await late.client.disconnect();
    }
    await second.stop();
  });

  it("A cursor from an interrupted replay yields the rest of the replay [W-35]", async () => {
    const { sessions } = createClientToolSessions(ANSWERS, PARTS);
    const server = await startAcpServer(sessions);
    const client = await server.connect();
    const sessionId = await client.newSession();
    await client.requestResult("session/prompt", prompt(sessionId));
    const reader = await server.connect();
    await reader.request("initialize");
    await reader.requestResult("session/load", { sessionId, ...SETUP });
    const all = ofAgent(listUpdateMessages(reader));
    expect(all.length).toBeGreaterThan(5);
    for (const [index, one] of all.entries()) {
      const { client: late } = await resumed(server, {
        method: "session/load",
        sessionId,
        cursor: cursorOf(one),
      });
      expect(ofAgent(listUpdateMessages(late))).toEqual(all.slice(index + 1));
      await late.disconnect();
    }
  });

  it("A cursor from a running turn yields each later update once [ACP-60] [W-35]", async () => {
    let go: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (go = resolve));
    const halting: ProviderScript = async function* () {
      yield { type: "message.start", message: 0, role: "assistant" };
      yield { type: "text.delta", message: 0, block: 0, text: "Before. " };
      await gate;
      yield { type: "text.delta", message: 0, block: 0, text: "After." };
      yield { type: "text.end", message: 0, block: 0, text: "Before. After." };
      yield { type: "message.end", message: 0, reason: "end_turn" };
      yield createTurnEnd({ outcome: "completed", reason: "end_turn" });
    };
    const { sessions } = createClientToolSessions([halting]);
    const server = await startAcpServer(sessions);
    const client = await server.connect();
    const sessionId = await client.newSession();
    client.send({ jsonrpc: "2.0", id: 70, method: "session/prompt", params: prompt(sessionId) });
    const last = await client.waitForMessage(({ params }) =>
      JSON.stringify(params ?? {}).includes("Before"),
    );
    await client.disconnect();
    const { client: late } = await resumed(server, { sessionId, cursor: cursorOf(last) });
    go();
    await late.waitForMessage(({ params }) => JSON.stringify(params ?? {}).includes("After"));
    const texts = late.listUpdates().map(({ content }) => isObject(content) && content["text"]);
    expect(texts).toEqual(["After."]);
  });

  it.each([
    ["of a completed turn", says("Hi"), { result: { stopReason: "end_turn" } }],
    ["of a failed turn", refuses("throttled"), { error: { data: { code: "throttled" } } }],
  ])("A reconnected client receives the response to its prompt, %s", async (_, answer, end) => {
    let go: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (go = resolve));
    const halting: ProviderScript = async function* (signal, call) {
      await gate;
      yield* answer(signal, call);
    };
    const { sessions } = createClientToolSessions([halting]);
    const server = await startAcpServer(sessions);
    const capabilities = { clientCapabilities: { _meta: { harn: {} } } };
    const client = await server.connect();
    await client.request("initialize", capabilities);
    const created = await client.request("session/new", SETUP);
    const { sessionId } = isObject(created["result"]) ? created["result"] : {};
    client.send({
      jsonrpc: "2.0",
      id: 70,
      method: "session/prompt",
      params: prompt(readText(sessionId)),
    });
    await client.waitForMessage(({ params }) =>
      JSON.stringify(params ?? {}).includes('"title":"First'),
    );
    await client.disconnect();
    go();
    const late = await server.connect();
    await late.request("initialize", capabilities);
    const cursor = cursorOf(created);
    const place = { sessionId, ...SETUP, _meta: { harn: { cursor } } };
    await late.requestResult("session/resume", place);
    const isEnd = ({ sessionUpdate, _meta: meta }: Message): boolean =>
      sessionUpdate === "session_info_update" && isObject(meta);
    await late.waitForMessage(() => late.listUpdates().some(isEnd));
    expect(late.listUpdates().find(isEnd)).toMatchObject({
      sessionUpdate: "session_info_update",
      _meta: {
        harn: {
          turn: {
            turnId: expect.stringMatching(/^turn_/),
            promptId: expect.any(String),
            clientId: expect.stringMatching(/^client_/),
            ...end,
          },
        },
      },
    });
  });

  it("A cursor of another log, an invalid cursor and a cursor ahead of the log are rejected [W-33] [W-34]", async () => {
    const { sessions } = createClientToolSessions([says("Hi")]);
    const server = await startAcpServer(sessions);
    const client = await server.connect();
    const sessionId = await client.newSession();
    await client.requestResult("session/prompt", prompt(sessionId));
    const [incarnation] = cursorOf(listUpdateMessages(client).at(-1) ?? {}).split(".");
    const ahead = await resumed(server, { sessionId, cursor: `${incarnation}.99999` });
    expect(ahead.answer["error"]).toMatchObject({
      code: -32602,
      data: { code: "cursor_ahead", reason: "ahead" },
    });
    const gone = await resumed(server, { method: "session/load", sessionId, cursor: "another.3" });
    expect(gone.answer["error"]).toMatchObject({
      code: -32602,
      data: { code: "cursor_gone", reason: "incarnation" },
    });
    const none = await resumed(server, { method: "session/load", sessionId, cursor: "nothing" });
    expect(none.answer["error"]).toMatchObject({ code: -32602 });
    expect(listUpdateMessages(ahead.client)).toEqual([]);
  });

  it("The results of session setup have a cursor too", async () => {
    const { sessions } = createClientToolSessions([says("Hi"), says("Again")]);
    const server = await startAcpServer(sessions);
    const client = await server.connect();
    await client.request("initialize");
    const begun = await client.request("session/new", SETUP);
    const sessionId = readText(isObject(begun["result"]) ? begun["result"]["sessionId"] : "");
    await client.requestResult("session/prompt", prompt(sessionId));
    const first = await resumed(server, { sessionId, cursor: cursorOf(begun) });
    expect(ofAgent(listUpdateMessages(first.client)).length).toBeGreaterThan(1);
    const next = await resumed(server, { sessionId, cursor: cursorOf(first.answer) });
    expect(ofAgent(listUpdateMessages(next.client))).toEqual([]);
    await client.requestResult("session/prompt", prompt(sessionId));
    await next.client.waitForMessage(({ params }) =>
      JSON.stringify(params ?? {}).includes("Again"),
    );
  });

  it("A reconnected client receives only open permission requests [W-36]", async () => {
    const { sessions } = createClientToolSessions(
      [wants({ id: "c1", name: "save" }, { id: "c2", name: "save" }), says("Saved.")],
      {
        tools: [createTool({ name: "save" }, () => "saved")],
        approvals: { deny: [], ask: ["save"], allow: [], default: "deny" },
      },
    );
    const server = await startAcpServer(sessions);
    const client = await server.connect();
    const sessionId = await client.newSession();
    const isAsking = ({ method }: Message): boolean => method === "session/request_permission";
    client.send({ jsonrpc: "2.0", id: 70, method: "session/prompt", params: prompt(sessionId) });
    await eventually(() => expect(client.messages.filter(isAsking)).toHaveLength(2));
    const [first, second] = client.messages.filter(isAsking);
    const cursor = cursorOf(listUpdateMessages(client).at(-1) ?? {});
    const outcome = { outcome: "selected", optionId: "allow" };
    client.send({ jsonrpc: "2.0", id: first?.["id"], result: { outcome } });
    await client.waitForMessage(({ params }) => JSON.stringify(params ?? {}).includes("completed"));
    await client.disconnect();
    const { client: late } = await resumed(server, { sessionId, cursor });
    const permissionRequest = await late.waitForMessage(isAsking);
    expect(late.messages.filter(isAsking)).toHaveLength(1);
    const callOf = ({ params }: Message = {}): unknown =>
      isObject(params) && isObject(params["toolCall"]) && params["toolCall"]["toolCallId"];
    expect(callOf(permissionRequest)).toBe(callOf(second));
    late.send({ jsonrpc: "2.0", id: permissionRequest["id"], result: { outcome } });
    await late.waitForMessage(({ params }) => JSON.stringify(params ?? {}).includes("Saved."));
    expect(late.messages.filter(isAsking)).toHaveLength(1);
  });
});
