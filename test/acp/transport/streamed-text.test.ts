import { describe, expect, it, onTestFinished } from "vitest";
import { isObject } from "../../../src/data/json.ts";
import type { ProviderEvent } from "../../../src/domain/provider/provider-event.ts";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import { connectAcpClient, readText, type AcpPeer } from "../../support/acp/acp-client.ts";
import { startAcpServer } from "../../support/acp/acp-server.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import {
  generateCallBlocks,
  createTurnEnd,
  createScriptedProvider,
  type ProviderScript,
} from "../../support/session/scripted-provider.ts";
import { createAgent, openSessions, createTool } from "../../support/session/session-world.ts";

const PIECES = Array.from({ length: 500 }, (_, at) => `${at} `);

/** Streams a text in many pieces, then requests tool calls or ends. */
function talks(
  ...calls: readonly { readonly id: string; readonly name: string }[]
): ProviderScript {
  return async function* (): AsyncGenerator<ProviderEvent> {
    yield { type: "message.start", message: 0, role: "assistant" };
    for (const text of PIECES) yield { type: "text.delta", message: 0, block: 0, text };
    yield { type: "text.end", message: 0, block: 0, text: PIECES.join("") };
    yield* generateCallBlocks(calls);
    const isDone = calls.length === 0;
    const reason = isDone ? "end_turn" : "tool_use";
    yield { type: "message.end", message: 0, reason };
    const openToolCallIds = calls.map(({ id }) => id);
    yield createTurnEnd({
      outcome: isDone ? "completed" : "action-required",
      reason,
      openToolCallIds,
    });
  };
}

function sessionsFor(...answers: readonly ProviderScript[]) {
  const provider = createScriptedProvider(answers);
  const look = createTool({ name: "look" }, () => "seen");
  // The clock does not advance, so updates are flushed only by later events.
  const sessions = openSessions(
    createMemoryStore(),
    createAgent({ provider, tools: [look] }),
    createFakeClock(),
  );
  onTestFinished(() => sessions.close());
  return sessions;
}

/** Consecutive texts joined, and tool call updates by kind. */
function course(client: AcpPeer): string[] {
  const receivedTexts: string[] = [];
  let isText = false;
  for (const { sessionUpdate, content, status } of client.listUpdates()) {
    if (sessionUpdate === "agent_message_chunk" && isObject(content)) {
      const text = readText(content["text"]);
      if (isText) receivedTexts.push((receivedTexts.pop() ?? "") + text);
      else receivedTexts.push(text);
      isText = true;
    } else if (readText(sessionUpdate).startsWith("tool_call")) {
      receivedTexts.push(`${readText(sessionUpdate)} ${readText(status)}`);
      isText = false;
    }
  }
  return receivedTexts;
}

function prompt(sessionId: string): object {
  return { sessionId, prompt: [{ type: "text", text: "Go" }] };
}

describe("Text in many pieces", () => {
  it("The pieces are merged into few updates, in order with the tool calls [ACP-19]", async () => {
    const client = await connectAcpClient(sessionsFor(talks({ id: "c", name: "look" }), talks()));
    await client.requestResult("session/prompt", prompt(await client.newSession()));
    expect(course(client)).toEqual([
      PIECES.join(""),
      "tool_call pending",
      "tool_call_update null",
      "tool_call_update in_progress",
      "tool_call_update completed",
      PIECES.join(""),
    ]);
    const chunks = client
      .listUpdates()
      .filter((one) => one["sessionUpdate"] === "agent_message_chunk");
    expect(chunks.length).toBeLessThan(PIECES.length / 10);
  });
});

describe("Clients with the same profile", () => {
  it.each([
    ["stock clients", {}],
    ["bridge hosts", { _meta: { harn: {} } }],
  ])("All followers of a session receive the same bytes: %s [ACP-20]", async (_, capabilities) => {
    const server = await startAcpServer(sessionsFor(talks({ id: "c", name: "look" }), talks()));
    const prompter = await server.connect();
    const sessionId = await prompter.newSession();
    const receivedTexts: string[][] = [];
    const ends: Promise<unknown>[] = [];
    for (let count = 0; count < 8; count += 1) {
      const client = await server.connect();
      await client.request("initialize", { clientCapabilities: capabilities });
      await client.requestResult("session/load", { sessionId, cwd: "/work", mcpServers: [] });
      const texts: string[] = [];
      receivedTexts.push(texts);
      ends.push(
        new Promise((resolve) => {
          client.socket.on("message", (data: Buffer) => {
            const text = data.toString();
            // Later clients still attach while the first clients are connected.
            if (texts.length > 0 || text.includes("user_message")) texts.push(text);
            if (text.includes('"completed"')) resolve(undefined);
          });
        }),
      );
    }
    await prompter.requestResult("session/prompt", prompt(sessionId));
    await Promise.all(ends);
    const least = Math.min(...receivedTexts.map(({ length }) => length));
    expect(least).toBeGreaterThan(5);
    const joinedTexts = receivedTexts.map((texts) => texts.slice(0, least).join("\n"));
    expect(new Set(joinedTexts).size).toBe(1);
  });
});
