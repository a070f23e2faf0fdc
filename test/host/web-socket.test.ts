import type { AddressInfo } from "node:net";
import { PassThrough } from "node:stream";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { createClient, webSocket, type Incoming } from "../../src/host/index.ts";
import type { Sessions } from "../../src/session/sessions.ts";
import { memoryStore } from "../../src/store/memory/memory-store.ts";
import { serveAcp } from "../../src/surfaces/acp/serve-acp.ts";
import { USER } from "../support/acp-client.ts";
import { says, scriptedProvider } from "../support/scripted-provider.ts";
import { agentOf, sessionsOn } from "../support/session-world.ts";

async function serverOf(onConnection: (socket: WebSocket) => void): Promise<string> {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  server.on("connection", onConnection);
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => {
    for (const socket of server.clients) socket.terminate();
    server.close();
  });
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The surface behind a WebSocket, one message to a text. */
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

describe("a WebSocket to an agent", () => {
  it("carries a whole turn, by the global WebSocket, and another one after it is lost [W-48]", async () => {
    const provider = scriptedProvider([says("One"), says("Two")]);
    const sessions = sessionsOn(memoryStore(), agentOf({ provider }));
    onTestFinished(() => sessions.close());
    const open: WebSocket[] = [];
    const url = await serverOf((socket) => {
      open.push(socket);
      serve(sessions, socket);
    });
    vi.stubGlobal("WebSocket", WebSocket);
    onTestFinished(() => void vi.unstubAllGlobals());
    const client = createClient(() => webSocket(url), { reconnect: { first: 1, longest: 1 } });
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

  it("passes over what is too long, and what is no text", async () => {
    const url = await serverOf((socket) => {
      socket.send("x".repeat(100));
      socket.send(Buffer.from("binary"));
      socket.send("1");
      socket.close();
    });
    const { incoming } = await webSocket(new WebSocket(url), { maxMessageCharacters: 10 });
    const items: Incoming[] = [];
    for await (const item of incoming) items.push(item);
    expect(items).toEqual([
      { type: "passed-over", reason: expect.stringContaining("100 characters") },
      { type: "line", text: "1" },
    ]);
  });

  it("says that nobody is there, and that there is no WebSocket", async () => {
    const socket = new WebSocket("ws://127.0.0.1:1");
    await expect(webSocket(socket)).rejects.toMatchObject({ code: "connect_failed" });
    vi.stubGlobal("WebSocket", undefined);
    onTestFinished(() => void vi.unstubAllGlobals());
    await expect(webSocket("ws://127.0.0.1:1")).rejects.toMatchObject({ code: "invalid_option" });
  });
});
