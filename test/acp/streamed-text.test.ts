import { describe, expect, it, onTestFinished } from "vitest";
import { isObject } from "../../src/domain/json.ts";
import type { ProviderEvent } from "../../src/domain/provider-event.ts";
import { memoryStore } from "../../src/store/memory/memory-store.ts";
import { acpClient, asText, type AcpTalk } from "../support/acp-client.ts";
import { acpServer } from "../support/acp-socket.ts";
import { fakeClock } from "../support/fake-clock.ts";
import { callBlocks, ending, scriptedProvider, type Answer } from "../support/scripted-provider.ts";
import { agentOf, sessionsOn, tool } from "../support/session-world.ts";

const PIECES = Array.from({ length: 500 }, (_, at) => `${at} `);

/** Says a text in very many pieces, and then wants a tool or is done. */
function talks(...calls: readonly { readonly id: string; readonly name: string }[]): Answer {
  return async function* (): AsyncGenerator<ProviderEvent> {
    yield { type: "message.start", message: 0, role: "assistant" };
    for (const text of PIECES) yield { type: "text.delta", message: 0, block: 0, text };
    yield { type: "text.end", message: 0, block: 0, text: PIECES.join("") };
    yield* callBlocks(calls);
    const isDone = calls.length === 0;
    const reason = isDone ? "end_turn" : "tool_use";
    yield { type: "message.end", message: 0, reason };
    const openCalls = calls.map(({ id }) => id);
    yield ending({ outcome: isDone ? "completed" : "action-required", reason, openCalls });
  };
}

function sessionsFor(...answers: readonly Answer[]) {
  const provider = scriptedProvider(answers);
  const look = tool({ name: "look" }, () => "seen");
  // Its time stands still: whatever is told is told since something else came.
  const sessions = sessionsOn(memoryStore(), agentOf({ provider, tools: [look] }), fakeClock());
  onTestFinished(() => sessions.close());
  return sessions;
}

/** Texts that follow each other as one, and calls by their kind of update. */
function course(client: AcpTalk): string[] {
  const told: string[] = [];
  let isText = false;
  for (const { sessionUpdate, content, status } of client.updates()) {
    if (sessionUpdate === "agent_message_chunk" && isObject(content)) {
      const text = asText(content["text"]);
      if (isText) told.push((told.pop() ?? "") + text);
      else told.push(text);
      isText = true;
    } else if (asText(sessionUpdate).startsWith("tool_call")) {
      told.push(`${asText(sessionUpdate)} ${asText(status)}`);
      isText = false;
    }
  }
  return told;
}

function prompt(sessionId: string): object {
  return { sessionId, prompt: [{ type: "text", text: "Go" }] };
}

describe("text that comes in many pieces", () => {
  it("is told in few, all of it before the call that follows it and after the one before [ACP-19]", async () => {
    const client = await acpClient(sessionsFor(talks({ id: "c", name: "look" }), talks()));
    await client.result("session/prompt", prompt(await client.begin()));
    expect(course(client)).toEqual([
      PIECES.join(""),
      "tool_call pending",
      "tool_call_update null",
      "tool_call_update in_progress",
      "tool_call_update completed",
      PIECES.join(""),
    ]);
    const chunks = client.updates().filter((one) => one["sessionUpdate"] === "agent_message_chunk");
    expect(chunks.length).toBeLessThan(PIECES.length / 10);
  });
});

describe("clients of one profile", () => {
  it.each([
    ["stock clients", {}],
    ["bridge hosts", { _meta: { harn: {} } }],
  ])("that follow a session are sent the same bytes: %s [ACP-20]", async (_, capabilities) => {
    const server = await acpServer(sessionsFor(talks({ id: "c", name: "look" }), talks()));
    const prompter = await server.connect();
    const sessionId = await prompter.begin();
    const heard: string[][] = [];
    const ends: Promise<unknown>[] = [];
    for (let count = 0; count < 8; count += 1) {
      const client = await server.connect();
      await client.ask("initialize", { clientCapabilities: capabilities });
      await client.result("session/load", { sessionId, cwd: "/work", mcpServers: [] });
      const texts: string[] = [];
      heard.push(texts);
      ends.push(
        new Promise((resolve) => {
          client.socket.on("message", (data: Buffer) => {
            const text = data.toString();
            // Others still come while the first ones are there.
            if (texts.length > 0 || text.includes("user_message")) texts.push(text);
            if (text.includes('"completed"')) resolve(undefined);
          });
        }),
      );
    }
    await prompter.result("session/prompt", prompt(sessionId));
    await Promise.all(ends);
    const least = Math.min(...heard.map(({ length }) => length));
    expect(least).toBeGreaterThan(5);
    const told = heard.map((texts) => texts.slice(0, least).join("\n"));
    expect(new Set(told).size).toBe(1);
  });
});
