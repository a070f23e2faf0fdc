import { describe, expect, it } from "vitest";
import { defineAgent } from "../../src/bridge/agent/define-agent.ts";
import { harnessProvider } from "../../src/providers/agentcore/harness-provider.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { encodeAwsFrame, startEventStream, startPeer } from "../support/server/scripted-peer.ts";
import { HARNESS_ARN } from "../support/session/provider-session.ts";
import { says, createScriptedProvider, wants } from "../support/session/scripted-provider.ts";
import { SEED_TURN } from "./support/seed.ts";
import { serveSessions, type Serving } from "./support/serve-sessions.ts";
import { send } from "./support/serve-answers.ts";

/** Deterministic ids (counters) and a clock which does not advance. */
function withoutChance(): Omit<Serving, "agents"> {
  let [sessions, seeds] = [0, 0];
  return {
    clock: createFakeClock(),
    coalesceMs: 0,
    newSessionId: () => `ses_${String((sessions += 1)).padStart(32, "0")}`,
    seed: () => String((seeds += 1)).padStart(13, "0"),
  };
}

const WEATHER = { name: "get_weather", parameters: { type: "object", properties: {} } };

/** Sends the same requests to a new server. */
async function run(): Promise<string[]> {
  const provider = createScriptedProvider(
    [
      wants({ id: "tooluse_1", name: "get_weather" }),
      says("It is warm."),
      wants({ id: "tooluse_1", name: "get_weather" }),
      says("One two three"),
      says("Four"),
      says("Five"),
    ],
    { capabilities: { tools: true, instructions: true } },
  );
  const agent = defineAgent({ name: "scripted", provider });
  const served = await serveSessions({ agents: [agent], ...withoutChance() });
  const input = [{ role: "user", content: "How warm is it?" }];
  const tools = [{ type: "function", ...WEATHER }];
  const first = await send(served, ["POST", "/responses"], { body: { input, tools } });
  const { id, output } = first.json;
  const { call_id } = output.find(({ type }: { type: string }) => type === "function_call");
  const result = { type: "function_call_output", call_id, output: "18" };
  const body = { input: [result], previous_response_id: id, stream: true };
  const chat = {
    messages: input,
    tools: [{ type: "function", function: WEATHER }],
  };
  const answers = [
    first,
    await send(served, ["POST", "/responses"], { body }),
    await send(served, ["POST", "/chat/completions"], { body: chat }),
    await send(served, ["POST", "/chat/completions"], { body: { messages: input, stream: true } }),
    await send(served, ["POST", "/inference"], { body: { messages: input } }),
    await send(served, ["POST", "/conversations"], { body: {} }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
  await served.close();
  return answers.map(({ text }) => text);
}

describe("Deterministic responses", () => {
  it("With a fixed seed and clock, responses are identical byte for byte [OR-78]", async () => {
    const [first, second] = [await run(), await run()];
    expect(second).toEqual(first);
    expect(first[1]).toContain("response.output_text.delta");
    expect(first[2]).toContain("tool_calls");
  });
});

describe("Replayed recordings", () => {
  const recorded = Buffer.concat(SEED_TURN.map(([name, payload]) => encodeAwsFrame(name, payload)));

  /** The response of a server whose agent streams the recording in chunks of `pieceSize` bytes. */
  async function replayed(pieceSize: number, body: object): Promise<string> {
    const peer = await startPeer((response) => {
      startEventStream(response);
      for (let at = 0; at < recorded.length; at += pieceSize) {
        response.write(recorded.subarray(at, at + pieceSize));
      }
      response.end();
    });
    const provider = harnessProvider({
      harnessArn: HARNESS_ARN,
      endpoint: peer.url,
      credentials: { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "example-secret-key" },
    });
    const agent = defineAgent({ name: "shop", provider });
    const served = await serveSessions({ agents: [agent], ...withoutChance() });
    const { status, text } = await send(served, ["POST", "/responses"], { body });
    expect(status).toBe(200);
    return text;
  }

  it.each([false, true])(
    "A recorded stream produces the same response for every chunk size (streamed: %s) [OR-79]",
    async (stream) => {
      const body = { input: "Search the catalog for shoes.", stream };
      const whole = await replayed(recorded.length, body);
      expect(whole).toContain("I couldn't find any shoes...");
      expect(whole).toContain("search_products");
      for (const pieceSize of [1, 7, 100]) expect(await replayed(pieceSize, body)).toBe(whole);
    },
  );
});
