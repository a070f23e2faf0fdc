import { describe, expect, it, onTestFinished } from "vitest";
import { isObject } from "../../../src/data/json.ts";
import type { Sessions } from "../../../src/session/sessions.ts";
import {
  connectAcpClient,
  createAcpPeer,
  readText,
  type AcpPeer,
  type Message,
} from "../../support/acp/acp-client.ts";
import { startAcpServer, TOKEN } from "../../support/acp/acp-server.ts";
import { eventually } from "../../support/eventually.ts";
import { createClientToolSessions } from "../../support/session/client-tool-sessions.ts";
import { says } from "../../support/session/scripted-provider.ts";

const SETUP = { cwd: "/work", mcpServers: [] };
const HOST = { clientCapabilities: { _meta: { harn: {} } } };

/** A way to reach the sessions. Each call opens a new host connection. */
type ConnectHost = () => Promise<AcpPeer>;

const TRANSPORTS: readonly (readonly [
  name: string,
  start: (sessions: Sessions) => Promise<ConnectHost>,
])[] = [
  ["stdio", async (sessions) => () => initialize(connectAcpClient(sessions))],
  [
    "WebSocket",
    async (sessions) => {
      const server = await startAcpServer(sessions);
      return () => initialize(server.connect());
    },
  ],
  [
    "HTTP",
    async (sessions) => {
      const { url } = await startAcpServer(sessions);
      return () => connectHttpPeer(`${url}/acp`);
    },
  ],
];

async function initialize(connecting: Promise<AcpPeer>): Promise<AcpPeer> {
  const peer = await connecting;
  await peer.request("initialize", HOST);
  return peer;
}

/** Sends each message as an HTTP request, and reads the streams of the connection and of its sessions. */
async function connectHttpPeer(url: string): Promise<AcpPeer> {
  const authorization = `Bearer ${TOKEN}`;
  const post = (body: string, headers: object = {}): Promise<Response> =>
    fetch(url, {
      method: "POST",
      headers: { authorization, "content-type": "application/json", ...headers },
      body,
    });
  const body = JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params: HOST });
  const connection = {
    "acp-connection-id": (await post(body)).headers.get("acp-connection-id") ?? "",
  };
  const end = new AbortController();
  onTestFinished(() => end.abort());
  const sessionIds = new Set<string>();
  let sent = Promise.resolve();
  const { take, ...peer } = createAcpPeer((text) => {
    sent = sent.then(async () => void (await post(text, connection)));
    const { params } = JSON.parse(text);
    if (typeof params?.sessionId === "string") readSession(params.sessionId);
  });
  async function read(headers: object): Promise<void> {
    const { body: stream } = await fetch(url, {
      headers: { authorization, accept: "text/event-stream", ...connection, ...headers },
      signal: end.signal,
    });
    let rest = "";
    for await (const chunk of stream?.pipeThrough(new TextDecoderStream()) ?? []) {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (!line.startsWith("data:")) continue;
        const text = line.slice("data:".length);
        take(text);
        const { result } = JSON.parse(text);
        if (typeof result?.sessionId === "string") readSession(result.sessionId);
      }
    }
  }
  function readSession(sessionId: string): void {
    if (sessionIds.has(sessionId)) return;
    sessionIds.add(sessionId);
    read({ "acp-session-id": sessionId }).catch(() => {});
  }
  read({}).catch(() => {});
  return peer;
}

async function openSession(peer: AcpPeer): Promise<{ sessionId: string; answer: Message }> {
  const answer = await peer.request("session/new", SETUP);
  const result = isObject(answer["result"]) ? answer["result"] : {};
  return { sessionId: readText(result["sessionId"]), answer };
}

function attach(peer: AcpPeer, sessionId: string, clientId: string, meta?: object) {
  const params = { sessionId, clientId, mode: "controller" };
  return peer.request("session/attach", { ...params, ...(meta && { _meta: { harn: meta } }) });
}

/** The messages in order, each as a short text. */
function summarize(messages: readonly Message[]): string[] {
  return messages.map(({ id, method, params }) => {
    if (method === undefined) return `response ${readText(id)}`;
    const update = isObject(params) && isObject(params["update"]) ? params["update"] : {};
    const { sessionUpdate, content, _meta: meta } = update;
    const { action, clientId } = isObject(meta) && isObject(meta["harn"]) ? meta["harn"] : {};
    const text = isObject(content) ? content["text"] : undefined;
    return [sessionUpdate ?? method, action, clientId, text]
      .filter((part) => typeof part === "string")
      .join(" ")
      .replace(/client_\S+/, "client_ID");
  });
}

function readCursor(message: Message | undefined): string {
  const { params, result } = message ?? {};
  const place = isObject(params) ? params : isObject(result) ? result : {};
  const harn = isObject(place["_meta"]) ? place["_meta"]["harn"] : undefined;
  return isObject(harn) ? readText(harn["cursor"]) : "";
}

function listUpdates(messages: readonly Message[]): string[] {
  return summarize(messages).filter((text) => !text.startsWith("response"));
}

/** Waits until all earlier messages of the session have arrived: the update of this heartbeat is the last. */
async function drain(peer: AcpPeer, sessionId: string, clientId: string): Promise<void> {
  const before = peer.messages.length;
  await peer.requestResult("session/heartbeat", { sessionId, clientId });
  await eventually(() =>
    expect(summarize(peer.messages.slice(before)).join("\n")).toContain("heartbeat"),
  );
}

describe.each(TRANSPORTS)("Order of responses and updates over %s", (name, start) => {
  it("The response to session/attach precedes every update about the attachment, and each update is sent once [B-197] [B-214]", async () => {
    const { sessions } = createClientToolSessions([says("Hi")]);
    const connect = await start(sessions);
    const peer = await connect();
    const { sessionId } = await openSession(peer);
    await eventually(() => expect(summarize(peer.messages).join()).toContain("attached client_ID"));
    const before = peer.messages.length;
    await attach(peer, sessionId, "desk");
    await drain(peer, sessionId, "desk");
    const [response, ...updates] = summarize(peer.messages.slice(before));
    expect(response).toMatch(/^response/);
    expect(updates.filter((text) => text.startsWith("live_session_client"))).toEqual([
      "live_session_client detached client_ID",
      "live_session_client attached desk",
      "live_session_client heartbeat desk",
    ]);
  });

  it("The response to session/new precedes every update of the session [ACP-55]", async () => {
    const { sessions } = createClientToolSessions([says("Hi")]);
    const connect = await start(sessions);
    const peer = await connect();
    const before = peer.messages.length;
    const { sessionId } = await openSession(peer);
    await attach(peer, sessionId, "desk");
    await drain(peer, sessionId, "desk");
    const texts = summarize(peer.messages.slice(before));
    expect(texts[0]).toMatch(/^response/);
    expect(
      texts.filter((text) => text.startsWith("live_session_client") && !text.includes("heartbeat")),
    ).toEqual([
      "live_session_client attached client_ID",
      "live_session_client detached client_ID",
      "live_session_client attached desk",
    ]);
  });

  it("A resume on the same connection repeats no update, not even of its own attach [W-33] [W-35]", async () => {
    const { sessions } = createClientToolSessions([says("Hi")]);
    const connect = await start(sessions);
    const peer = await connect();
    const { sessionId, answer } = await openSession(peer);
    await attach(peer, sessionId, "desk");
    await peer.requestResult("session/prompt", {
      sessionId,
      prompt: [{ type: "text", text: "Hello" }],
    });
    await drain(peer, sessionId, "desk");
    const before = peer.messages.length;
    const cursor = readCursor(answer);
    const meta = name === "stdio" ? {} : { _meta: { harn: { cursor } } };
    const resumed = await peer.request("session/resume", { sessionId, ...SETUP, ...meta });
    expect(resumed["error"]).toBe(undefined);
    await drain(peer, sessionId, "desk");
    expect(listUpdates(peer.messages.slice(before))).toEqual([
      "live_session_client heartbeat desk",
    ]);
  });

  it("The response to session/load follows the history and precedes every later update [ACP-60]", async () => {
    const { sessions } = createClientToolSessions([says("Hi")]);
    const connect = await start(sessions);
    const first = await connect();
    const { sessionId } = await openSession(first);
    await attach(first, sessionId, "desk");
    await first.requestResult("session/prompt", {
      sessionId,
      prompt: [{ type: "text", text: "Hello" }],
    });
    const before = first.messages.length;
    const loading = first.request("session/load", { sessionId, ...SETUP });
    const beating = first.requestResult("session/heartbeat", { sessionId, clientId: "desk" });
    const loaded = await loading;
    await beating;
    await drain(first, sessionId, "desk");
    const messages = first.messages.slice(before);
    const texts = summarize(messages);
    const end = messages.indexOf(loaded);
    expect(texts.slice(0, end).filter((text) => text.includes("Hi"))).toHaveLength(1);
    expect(texts.slice(0, end).join("\n")).not.toContain("heartbeat");
    expect(texts.slice(end + 1)).toEqual([
      expect.stringContaining("available_commands_update"),
      expect.stringMatching(/^response|heartbeat/),
      expect.stringMatching(/^response|heartbeat/),
      expect.stringMatching(/^response|heartbeat/),
      expect.stringMatching(/^response|heartbeat/),
    ]);
  });
});

describe.each(TRANSPORTS.slice(1))("Cursor over %s", (_, start) => {
  it("An attach with a cursor on a new connection sends every later update once, after its response [W-33] [W-35]", async () => {
    const { sessions } = createClientToolSessions([says("One"), says("Two")]);
    const connect = await start(sessions);
    const first = await connect();
    const { sessionId, answer } = await openSession(first);
    await first.requestResult("session/prompt", {
      sessionId,
      prompt: [{ type: "text", text: "Hello" }],
    });
    await eventually(() => expect(summarize(first.messages).join()).toContain("One"));
    const late = await connect();
    const before = late.messages.length;
    const cursor = readCursor(answer);
    const attached = await late.request("session/attach", {
      sessionId,
      clientId: "desk",
      _meta: { harn: { cursor, surface: "test" } },
    });
    expect(attached["result"]).toMatchObject({ client: { metadata: { surface: "test" } } });
    expect(JSON.stringify(attached)).not.toContain("cursor");
    await drain(late, sessionId, "desk");
    const texts = summarize(late.messages.slice(before));
    expect(texts[0]).toMatch(/^response/);
    expect(texts.filter((text) => text === "agent_message_chunk One")).toHaveLength(1);
    expect(texts.filter((text) => text.includes("attached desk"))).toHaveLength(1);
    const count = late.messages.length;
    const place = { sessionId, ...SETUP, _meta: { harn: { cursor } } };
    const resumed = await late.request("session/resume", place);
    await drain(late, sessionId, "desk");
    expect(listUpdates(late.messages.slice(count)).join()).not.toContain("One");
    const next = await connect();
    const exact = { sessionId, ...SETUP, _meta: { harn: { cursor: readCursor(resumed) } } };
    const resumedAt = next.messages.length;
    await next.requestResult("session/resume", exact);
    expect(listUpdates(next.messages.slice(resumedAt)).join()).not.toContain("One");
  });

  it("An attach with an unknown cursor is refused and does not attach the client [W-34]", async () => {
    const { sessions } = createClientToolSessions([says("One")]);
    const connect = await start(sessions);
    const first = await connect();
    const { sessionId } = await openSession(first);
    const late = await connect();
    const refused = await attach(late, sessionId, "desk", { cursor: "another.3" });
    expect(refused["error"]).toMatchObject({ data: { code: "cursor_gone" } });
    const invalid = await attach(late, sessionId, "desk", { cursor: 7 });
    expect(invalid["error"]).toMatchObject({ code: -32602 });
    const { clients } = await sessions.status(sessionId);
    expect(clients.map(({ clientId }) => clientId)).not.toContain("desk");
  });
});
