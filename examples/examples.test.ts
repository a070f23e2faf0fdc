import { BedrockAgentCoreClient } from "@aws-sdk/client-bedrock-agentcore";
import { Readable } from "node:stream";
import { describe, expect, it, onTestFinished } from "vitest";
import { emulate, TEST_CREDENTIALS } from "../src/emulator/index.ts";
import { harnessProvider } from "../src/providers/index.ts";
import { createMemoryStore } from "../src/store/memory/memory-store.ts";
import { serveOnSocket } from "../test/support/acp/acp-client.ts";
import { createSocketTransport } from "../test/support/acp/host-client.ts";
import { createAgent, openSessions, createTool } from "../test/support/session/session-world.ts";
import { encodeEvent } from "../src/wire/index.ts";
import { foldCapture } from "./01-fold-a-capture.ts";
import { askAboutWeather } from "./02-aws-sdk.ts";
import { talkToDemoAgent } from "./03-emulator.ts";
import { invokeThreeTimes } from "./04-script.ts";
import { runDemoAgent } from "./05-run-to-completion.ts";
import { talkAsHost } from "./06-host.ts";

/** The real client with its network replaced by the service's responses. */
function clientWith(answers: Uint8Array[][], bodies: unknown[]): BedrockAgentCoreClient {
  return new BedrockAgentCoreClient({
    region: "eu-central-1",
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
    requestHandler: {
      handle: async (request: { body?: Uint8Array }) => {
        bodies.push(JSON.parse(new TextDecoder().decode(request.body)));
        const headers = { "content-type": "application/vnd.amazon.eventstream" };
        return {
          response: { statusCode: 200, headers, body: Readable.from(answers.shift() ?? []) },
        };
      },
    },
  });
}

describe("Examples", () => {
  it("Example 01 decodes a capture and builds the request with the tool results", async () => {
    let written = "";
    await foldCapture((text) => (written += text));
    expect(written).toMatch(/^Let me look at your order\.\nYour trail shoes/);
  });

  it("Example 02 runs a tool for an agent through the AWS SDK", async () => {
    const text = (delta: object) =>
      encodeEvent("contentBlockDelta", { contentBlockIndex: 0, delta });
    const bodies: unknown[] = [];
    const client = clientWith(
      [
        [
          encodeEvent("messageStart", { role: "assistant" }),
          encodeEvent("contentBlockStart", {
            contentBlockIndex: 0,
            start: { toolUse: { toolUseId: "A", name: "weather" } },
          }),
          text({ toolUse: { input: '{"city":"Bergen"}' } }),
          encodeEvent("contentBlockStop", { contentBlockIndex: 0 }),
          encodeEvent("messageStop", { stopReason: "tool_use" }),
        ],
        [
          encodeEvent("messageStart", { role: "assistant" }),
          text({ text: "Yes." }),
          encodeEvent("contentBlockStop", { contentBlockIndex: 0 }),
          encodeEvent("messageStop", { stopReason: "end_turn" }),
        ],
      ],
      bodies,
    );
    let written = "";
    const turn = await askAboutWeather(client, (piece) => (written += piece));
    expect([written, turn.end?.outcome]).toEqual(["Yes.", "completed"]);
    expect(bodies).toMatchObject([
      { messages: [{ role: "user" }] },
      {
        messages: [
          {
            role: "assistant",
            content: [{ toolUse: { toolUseId: "A", input: { city: "Bergen" } } }],
          },
          {
            role: "user",
            content: [
              {
                toolResult: {
                  toolUseId: "A",
                  content: [{ json: { forecast: "Rain", asked: { city: "Bergen" } } }],
                },
              },
            ],
          },
        ],
      },
    ]);
  });

  it("Example 03 offers a tool to the demo agent of an emulator and returns its result", async () => {
    let written = "";
    await talkToDemoAgent((text) => (written += text));
    expect(written).toBe(
      'Let me use get_weather for that.\n→ get_weather {"city":"Bergen"}\n' +
        "Done. get_weather says: sky: rain, degrees: 11.\n",
    );
  });

  it("Example 04 plays a script whose faults are reported as errors, with each invocation made once", async () => {
    let written = "";
    await invokeThreeTimes((text) => (written += text));
    expect(written).toBe(
      "ConnectionLostError in the phase stream\n" +
        "ThrottledError in the phase http, status 429\n" +
        "This is the third call.\n",
    );
  });

  it("Example 05 runs an agent with two tools: one needs approval, and one fails", async () => {
    let written = "";
    await runDemoAgent((text) => (written += text));
    expect(written).toBe(
      '? save_note {"text":"buy milk"}\nDone. save_note says: saved.\n' +
        "I could not finish that with get_weather. It said: get_weather failed: The weather station is down.\n",
    );
  });

  it("Example 06 connects a host to an agent over a real connection", async () => {
    const emulator = await emulate();
    onTestFinished(() => emulator.close());
    const provider = harnessProvider({
      harnessArn: emulator.demoArn,
      endpoint: emulator.url,
      credentials: TEST_CREDENTIALS,
    });
    const schema = { type: "object", properties: { text: { type: "string" } } };
    const note = createTool(
      { name: "save_note", description: "Saves a note", schema },
      () => "saved",
    );
    const approvals = { deny: [], ask: ["save_note"], allow: [], default: "deny" } as const;
    const sessions = openSessions(
      createMemoryStore(),
      createAgent({ provider, tools: [note], approvals }),
    );
    onTestFinished(() => sessions.close());
    let written = "";
    const connect = async () => createSocketTransport((await serveOnSocket(sessions)).socket);
    await talkAsHost(connect, (text) => (written += text));
    expect(written).toMatch(
      /^\(connected\)\n.*→ save_note\n\? save_note \{"text":"buy milk"\}\n.*saved\.\n\(closed\)\n$/s,
    );
  });
});
