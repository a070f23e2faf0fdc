import { BedrockAgentCoreClient, InvokeHarnessCommand } from "@aws-sdk/client-bedrock-agentcore";
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { runCodec } from "../src/domain/codec.ts";
import { buildTurn } from "../src/domain/provider/turn.ts";
import { createHarnessStream } from "../src/wire/agentcore/harness/harness-stream.ts";
import { parse } from "../src/wire/converse/parse.ts";
import { encodeEvent, encodeException } from "../src/wire/framing/eventstream-format.ts";
import { concat } from "./support/bytes/bytes.ts";

/** Every event type of the service, encoded by Spanline. */
const events: readonly (readonly [string, object])[] = [
  ["messageStart", { role: "assistant" }],
  ["contentBlockDelta", { contentBlockIndex: 0, delta: { reasoningContent: { text: "hm" } } }],
  [
    "contentBlockDelta",
    { contentBlockIndex: 0, delta: { reasoningContent: { signature: "c2ln" } } },
  ],
  ["contentBlockStop", { contentBlockIndex: 0 }],
  ["contentBlockDelta", { contentBlockIndex: 1, delta: { text: "Grüße 🌍" } }],
  ["contentBlockStop", { contentBlockIndex: 1 }],
  [
    "contentBlockStart",
    {
      contentBlockIndex: 2,
      start: { toolUse: { toolUseId: "A", name: "a", type: "server_tool_use" } },
    },
  ],
  ["contentBlockDelta", { contentBlockIndex: 2, delta: { toolUse: { input: '{"x":1}' } } }],
  ["contentBlockStop", { contentBlockIndex: 2 }],
  ["messageStop", { stopReason: "tool_use" }],
  ["messageStart", { role: "user" }],
  [
    "contentBlockStart",
    { contentBlockIndex: 0, start: { toolResult: { toolUseId: "A", status: "success" } } },
  ],
  [
    "contentBlockDelta",
    { contentBlockIndex: 0, delta: { toolResult: [{ json: { n: 1 } }, { text: "t" }] } },
  ],
  ["contentBlockStop", { contentBlockIndex: 0 }],
  ["messageStop", { stopReason: "tool_result" }],
  ["hookEvent", { hookEventId: "h", name: "guard", type: "after_invocation", decision: "allow" }],
  ["messageStart", { role: "assistant" }],
  ["contentBlockDelta", { contentBlockIndex: 0, delta: { text: "Done." } }],
  ["contentBlockStop", { contentBlockIndex: 0 }],
  ["messageStop", { stopReason: "end_turn" }],
  [
    "metadata",
    { usage: { inputTokens: 3, outputTokens: 4, totalTokens: 7 }, metrics: { latencyMs: 5 } },
  ],
];
const body = concat(...events.map(([name, payload]) => encodeEvent(name, payload)));

/** The unmodified AWS client with this response in place of the network. */
async function invoke(answer: Uint8Array): Promise<unknown[]> {
  const client = new BedrockAgentCoreClient({
    region: "us-east-1",
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
    requestHandler: {
      handle: async () => ({
        response: {
          statusCode: 200,
          headers: { "content-type": "application/vnd.amazon.eventstream" },
          body: Readable.from([answer]),
        },
      }),
    },
  });
  const { stream } = await client.send(
    new InvokeHarnessCommand({
      harnessArn: "arn:aws:bedrock-agentcore:us-east-1:123456789012:harness/demo-abcdefghij",
      runtimeSessionId: "550e8400-e29b-41d4-a716-446655440000",
      messages: [{ role: "user", content: [{ text: "hi" }] }],
    }),
  );
  const seen: unknown[] = [];
  for await (const event of stream ?? []) seen.push(event);
  return seen;
}

describe("AWS SDK client", () => {
  it("The client reads an encoded stream event for event [AC-16]", async () => {
    expect(await invoke(body)).toEqual(events.map(([name, payload]) => ({ [name]: payload })));
  });

  it("The bytes and the client's events fold to the same turn [AC-16]", async () => {
    const ours = buildTurn(runCodec(createHarnessStream(), [body]));
    const { turn: theirs } = parse(await invoke(body));
    expect(ours).toEqual(theirs);
    expect(ours).toMatchObject({ text: "Grüße 🌍Done.", end: { outcome: "completed" } });
  });

  it("The client throws an encoded exception", async () => {
    const failing = concat(
      encodeEvent("messageStart", { role: "assistant" }),
      encodeException("validationException", { message: "no", reason: "CannotParse" }),
    );
    await expect(invoke(failing)).rejects.toMatchObject({
      name: "ValidationException",
      message: "no",
    });
  });
});
