import { describe, expect, it, onTestFinished } from "vitest";
import { isObject } from "../../../src/data/json.ts";
import { emulate, TEST_CREDENTIALS } from "../../../src/emulator/index.ts";
import { harnessProvider } from "../../../src/providers/agentcore/harness-provider.ts";
import type { RunningSessions } from "../../../src/session/runtime/create-sessions.ts";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import {
  connectAcpClient,
  readText,
  type AcpClient,
  type Message,
} from "../../support/acp/acp-client.ts";
import { createAgent, openSessions, createTool } from "../../support/session/session-world.ts";

const SETUP = { cwd: "/work", mcpServers: [] };
const PROMPT = [{ type: "text", text: "What is the weather in Paris?" }];

interface World {
  readonly sessions: RunningSessions;
  /** The arguments of each tool run. */
  readonly ran: unknown[];
}

/** Real sessions in memory, with an agent on the emulator. The agent's only tool requires approval. */
async function world(): Promise<World> {
  const emulator = await emulate();
  onTestFinished(() => emulator.close());
  const provider = harnessProvider({
    harnessArn: emulator.demoArn,
    endpoint: emulator.url,
    credentials: TEST_CREDENTIALS,
  });
  const ran: unknown[] = [];
  const schema = {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
  };
  const weather = createTool(
    { name: "weather", description: "Tells the weather of a city", schema },
    (input) => {
      ran.push(input);
      return "sunny";
    },
  );
  const approvals = { deny: [], ask: ["weather"], allow: [], default: "deny" } as const;
  const sessions = openSessions(
    createMemoryStore(),
    createAgent({ provider, tools: [weather], approvals }),
  );
  onTestFinished(() => sessions.close());
  return { sessions, ran };
}

function isPermission({ method }: Message): boolean {
  return method === "session/request_permission";
}

function choose(client: AcpClient, { id }: Message, optionId: string): void {
  client.send({ jsonrpc: "2.0", id, result: { outcome: { outcome: "selected", optionId } } });
}

/** The final texts and tool call statuses of a client. */
function readTurn(client: AcpClient): { text: string; calls: { [id: string]: unknown } } {
  let text = "";
  const calls: { [id: string]: unknown } = {};
  for (const { sessionUpdate, content, toolCallId, status } of client.listUpdates()) {
    if (sessionUpdate === "agent_message_chunk" && isObject(content))
      text += readText(content["text"]);
    if (typeof toolCallId === "string") calls[toolCallId] = status ?? calls[toolCallId];
  }
  return { text, calls };
}

describe("ACP client with real sessions", () => {
  it("A prompt runs an approved tool and ends the turn [B-006] [B-009]", async () => {
    const { sessions, ran } = await world();
    const client = await connectAcpClient(sessions);
    const sessionId = await client.newSession();
    const answer = client.requestResult("session/prompt", { sessionId, prompt: PROMPT });
    const request = await client.waitForMessage(isPermission);
    expect(ran).toEqual([]);
    choose(client, request, "allow");
    expect(await answer).toMatchObject({ stopReason: "end_turn" });
    expect(ran).toHaveLength(1);
    const states = client
      .listUpdates()
      .flatMap(({ sessionUpdate, toolCallId, status }) =>
        toolCallId === undefined ? [] : [`${readText(sessionUpdate)} ${readText(status)}`],
      );
    expect(states[0]).toBe("tool_call pending");
    expect(states.slice(-2)).toEqual([
      "tool_call_update in_progress",
      "tool_call_update completed",
    ]);
    expect(client.listUpdates().some((one) => one["sessionUpdate"] === "user_message_chunk")).toBe(
      false,
    );

    const late = await connectAcpClient(sessions);
    await late.request("initialize");
    await late.requestResult("session/load", { sessionId, ...SETUP });
    expect(readTurn(late)).toEqual(readTurn(client));
  });

  it("A tool does not run if the host does not support permission requests [B-011]", async () => {
    const { sessions, ran } = await world();
    const client = await connectAcpClient(sessions);
    const sessionId = await client.newSession();
    const answer = client.requestResult("session/prompt", { sessionId, prompt: PROMPT });
    const { id } = await client.waitForMessage(isPermission);
    client.send({ jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } });
    await answer;
    expect(ran).toEqual([]);
    expect(client.listUpdates().some(({ status }) => status === "failed")).toBe(true);
  });

  it("A permission request of a disconnected client can be decided by the next client [B-013]", async () => {
    const { sessions, ran } = await world();
    const client = await connectAcpClient(sessions);
    const sessionId = await client.newSession();
    client.send({
      jsonrpc: "2.0",
      id: "p",
      method: "session/prompt",
      params: { sessionId, prompt: PROMPT },
    });
    await client.waitForMessage(isPermission);
    client.socket.end();
    await client.done;
    expect(ran).toEqual([]);
    const next = await connectAcpClient(sessions, { session: "latest" });
    expect(await next.newSession()).toBe(sessionId);
    choose(next, await next.waitForMessage(isPermission), "allow");
    await next.waitForMessage(() =>
      next.listUpdates().some(({ status }) => status === "completed"),
    );
    expect(ran).toHaveLength(1);
  });

  it("Cancelling a turn that waits for approval closes its tool call [ACP-91] [ACP-104]", async () => {
    const { sessions, ran } = await world();
    const client = await connectAcpClient(sessions);
    const sessionId = await client.newSession();
    const answer = client.requestResult("session/prompt", { sessionId, prompt: PROMPT });
    const request = await client.waitForMessage(isPermission);
    client.send({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId } });
    expect(await answer).toEqual({ stopReason: "cancelled" });
    choose(client, request, "allow");
    await client.request("initialize");
    expect(ran).toEqual([]);
    expect(Object.values(readTurn(client).calls)).toEqual(["failed"]);
  });

  it("The prompt after a cancelled turn is answered without running the cancelled tool call", async () => {
    const { sessions, ran } = await world();
    const client = await connectAcpClient(sessions);
    const sessionId = await client.newSession();
    const cancelled = client.requestResult("session/prompt", { sessionId, prompt: PROMPT });
    await client.waitForMessage(isPermission);
    client.send({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId } });
    await cancelled;
    const prompt = [{ type: "text", text: "What is 6 times 7?" }];
    const answer = await client.requestResult("session/prompt", { sessionId, prompt });
    expect(answer).toMatchObject({ stopReason: "end_turn" });
    expect(readTurn(client).text).toMatch(/That is 42\.$/);
    expect(ran).toEqual([]);
  });
});
