import { createServer, type AddressInfo } from "node:net";
import { PassThrough } from "node:stream";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { WebSocket, WebSocketServer, type ServerOptions } from "ws";
import { createClient, connectWebSocket, type Incoming } from "../../src/host/index.ts";
import type { Sessions } from "../../src/session/sessions.ts";
import { createMemoryStore } from "../../src/store/memory/memory-store.ts";
import { serveAcp } from "../../src/surfaces/acp/connection/serve-acp.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { USER } from "../support/acp/acp-client.ts";
import { says, createScriptedProvider } from "../support/session/scripted-provider.ts";
import { createAgent, openSessions } from "../support/session/session-world.ts";

async function serverOf(
  onConnection: (socket: WebSocket) => void,
  options: ServerOptions = {},
): Promise<string> {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1", ...options });
  server.on("connection", onConnection);
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => {
    for (const socket of server.clients) socket.terminate();
    server.close();
  });
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Serves ACP on a WebSocket, with a message per frame. */
function serve(sessions: Sessions, socket: WebSocket): void {
  const input = new PassThrough();
  const output = new PassThrough();
  let rest = "";
  output.on("data", (chunk: Buffer) => {
    const lines = (rest + chunk.toString("utf8")).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) socket.send(line);
  });
  socket.on("message", (data: Buffer) => input.write(`${data.toString("utf8")}\n`));
  socket.on("close", () => input.end());
  void serveAcp({ sessions, input, output, principal: USER, log: () => {} });
}

describe("WebSocket transport", () => {
  it("A turn runs over the global WebSocket, and another turn after a reconnect [W-48]", async () => {
    const provider = createScriptedProvider([says("One"), says("Two")]);
    const sessions = openSessions(createMemoryStore(), createAgent({ provider }));
    onTestFinished(() => sessions.close());
    const open: WebSocket[] = [];
    const url = await serverOf((socket) => {
      open.push(socket);
      serve(sessions, socket);
    });
    vi.stubGlobal("WebSocket", WebSocket);
    onTestFinished(() => void vi.unstubAllGlobals());
    const client = createClient(() => connectWebSocket(url), {
      reconnect: { first: 1, longest: 1 },
    });
    onTestFinished(() => client.close());
    const { sessionId } = await client.newSession({ workingDirectory: "/work" });
    expect(await client.prompt(sessionId, "1").result).toMatchObject({ reason: "end_turn" });
    open[0]?.terminate();
    await client.listSessions();
    const texts: string[] = [];
    for await (const update of client.prompt(sessionId, "2")) {
      if (update.type === "agent-text") texts.push(update.text);
    }
    expect(texts.join("")).toBe("Two");
    expect(open).toHaveLength(2);
  });

  it("A message that is too long or binary is skipped", async () => {
    const url = await serverOf((socket) => {
      socket.send("x".repeat(100));
      socket.send(Buffer.from("binary"));
      socket.send("1");
      socket.close();
    });
    const { incoming } = await connectWebSocket(new WebSocket(url), { maxMessageCharacters: 10 });
    const items: Incoming[] = [];
    for await (const item of incoming) items.push(item);
    expect(items).toEqual([
      {
        type: "passed-over",
        reason: expect.stringContaining("100 characters"),
        start: "x".repeat(100),
      },
      { type: "passed-over", reason: expect.stringContaining("not text") },
      { type: "line", text: "1" },
    ]);
  });

  it("The transport ends when its socket breaks, also if the socket was already open", async () => {
    const url = await serverOf((socket) => {
      // Reserved bits without a negotiated extension.
      socket.once("message", () => void Reflect.get(socket, "_socket").write("\xff\xff", "latin1"));
    });
    const socket = new WebSocket(url);
    await new Promise((resolve) => socket.once("open", resolve));
    const transport = await connectWebSocket(socket);
    transport.send("1");
    for await (const item of transport.incoming) expect.unreachable(item.type);
  });

  it("Opening a socket has a timeout", async () => {
    const clock = createFakeClock();
    // This server accepts connections and sends no data.
    const silent = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void silent.close());
    await new Promise((resolve) => silent.once("listening", resolve));
    const { port } = silent.address() as AddressInfo;
    const socket = new WebSocket(`ws://127.0.0.1:${port}`);
    const transport = connectWebSocket(socket, { openTimeoutMs: 1000, clock });
    clock.advance(1000);
    await expect(transport).rejects.toMatchObject({ code: "connect_failed" });
    expect(socket.readyState).toBeGreaterThan(WebSocket.OPEN);
    const url = await serverOf(() => {});
    await connectWebSocket(new WebSocket(url), { clock });
    expect(clock.pending).toBe(0);
  });

  it("A message too large for the agent fails with a clear error, and the client reconnects [W-48]", async () => {
    const provider = createScriptedProvider([says("One")]);
    const sessions = openSessions(createMemoryStore(), createAgent({ provider }));
    onTestFinished(() => sessions.close());
    let opened = 0;
    const url = await serverOf(
      (socket) => {
        opened += 1;
        socket.on("error", () => {});
        serve(sessions, socket);
      },
      { maxPayload: 100_000 },
    );
    const client = createClient(() => connectWebSocket(new WebSocket(url)), {
      reconnect: { first: 1, longest: 1 },
    });
    onTestFinished(() => client.close());
    const { sessionId } = await client.newSession({ workingDirectory: "/work" });
    const { result } = client.prompt(sessionId, "x".repeat(100_000));
    await expect(result).rejects.toMatchObject({ code: "invalid_message" });
    expect(await client.prompt(sessionId, "1").result).toMatchObject({ reason: "end_turn" });
    expect(opened).toBe(2);
  });

  it("A refused connection and a missing WebSocket have different errors", async () => {
    const socket = new WebSocket("ws://127.0.0.1:1");
    await expect(connectWebSocket(socket)).rejects.toMatchObject({ code: "connect_failed" });
    vi.stubGlobal("WebSocket", undefined);
    onTestFinished(() => void vi.unstubAllGlobals());
    await expect(connectWebSocket("ws://127.0.0.1:1")).rejects.toMatchObject({
      code: "invalid_option",
    });
  });
});
