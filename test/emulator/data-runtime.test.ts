import {
  InvokeAgentRuntimeCommand,
  type BedrockAgentCoreClient,
  type InvokeAgentRuntimeCommandInput,
} from "@aws-sdk/client-bedrock-agentcore";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCodec } from "../../src/domain/codec.ts";
import { buildTurn, type Turn } from "../../src/domain/provider/turn.ts";
import type { RuntimeStyle } from "../../src/emulator/data/data-plane.ts";
import { createRuntimeStream } from "../../src/wire/agentcore/runtime/runtime-stream.ts";
import { running, SESSION } from "./start-data-plane.ts";

const ARN = "arn:aws:bedrock-agentcore:us-east-1:123456789012:runtime/weather-abcdefghij";
const LIFECYCLE = { idleSeconds: 900, lifetimeSeconds: 28_800 };

/** The turn in the recordings `py-tool-turn.sse`, `py-old-tool-turn.sse` and `ts-tool-turn.sse`. */
const script = `
chunk: 12
turns:
  - when: hi
    answer:
      - { reasoning: "The user wants ", chunk: 1000 }
      - { reasoning: the weather., signature: c2lnLTE=, chunk: 1000 }
      - { text: "Let me ", chunk: 1000 }
      - { text: look that up., chunk: 1000 }
      - usage: { input: 120, output: 30, latency: 800 }
      - server: weather
        id: tooluse_A1
        inputText: '{"city": "Tokyo"}'
        result: Sunny, 25°C in Tokyo
      - { text: "It's sunny in ", chunk: 1000 }
      - { text: 'Tokyo, they said "25°C".', chunk: 1000 }
      - usage: { input: 180, output: 20, latency: 600 }
  - when: fail
    answer: [Half a sen, { fail: { type: Boom, message: the model went away } }]
`;

function runtime(style: RuntimeStyle) {
  return {
    script,
    runtimes: [
      {
        arn: ARN,
        brain: undefined,
        style,
        lifecycle: LIFECYCLE,
        systemPrompt: "You are a test agent.",
      },
    ],
  };
}

async function call(
  client: BedrockAgentCoreClient,
  input: Partial<InvokeAgentRuntimeCommandInput> = {},
) {
  const answer = await client.send(
    new InvokeAgentRuntimeCommand({
      agentRuntimeArn: ARN,
      runtimeSessionId: SESSION,
      contentType: "application/json",
      accept: "text/event-stream",
      payload: new TextEncoder().encode('{"prompt": "hi"}'),
      ...input,
    }),
  );
  const body = (await answer.response?.transformToByteArray()) ?? new Uint8Array();
  return { ...answer, body, text: new TextDecoder().decode(body) };
}

function folded(body: Uint8Array, contentType = "text/event-stream"): Turn {
  return buildTurn(runCodec(createRuntimeStream({ contentType }), [body]));
}

describe("InvokeAgentRuntime, read by the unmodified AWS SDK [AC-86]", () => {
  it.each<RuntimeStyle>(["python", "python-ascii", "typescript", "typescript-strings"])(
    "A script is streamed in the style %s with the same meaning [AC-94]",
    async (style) => {
      const { client } = await running(runtime(style));
      const { body, contentType, statusCode, runtimeSessionId } = await call(client);
      expect({ contentType, statusCode, runtimeSessionId }).toEqual({
        contentType: "text/event-stream",
        statusCode: 200,
        runtimeSessionId: SESSION,
      });
      const turn = folded(body);
      expect(turn.text).toBe(`Let me look that up.It's sunny in Tokyo, they said "25°C".`);
      expect(turn.diagnostics.filter(({ code }) => code !== "noise_skipped")).toEqual([]);
      expect(turn.end?.outcome).toBe("completed");
    },
  );

  it.each<[RuntimeStyle, string]>([
    ["python", "py-tool-turn.sse"],
    ["python-ascii", "py-old-tool-turn.sse"],
  ])(
    "The output equals that of Strands in Python, line for line: %s [AC-94]",
    async (style, file) => {
      const { client } = await running(runtime(style));
      const { text } = await call(client);
      expect(shapes(text)).toEqual(shapes(recording(file)));
    },
  );

  it("The output equals that of Strands in TypeScript, line for line [AC-94]", async () => {
    const recorded = recording("ts-tool-turn.sse");
    const japanese = script
      .replace("tooluse_A1", "tooluse_T1")
      .replace("It's sunny in ", "晴れです ")
      .replace('Tokyo, they said "25°C".', "😀 in Tokyo.");
    const { client } = await running({ ...runtime("typescript"), script: japanese });
    const { text } = await call(client);
    const lines = (sse: string): string[] =>
      shapes(sse.replaceAll(/"projectedInputTokens":\d+/g, "PROJECTED"));
    expect(lines(text)).toEqual(lines(recorded));
  });

  it("The style python-ascii writes ASCII, as before July 2025, and python writes UTF-8 [AC-94]", async () => {
    const old = await call((await running(runtime("python-ascii"))).client);
    const since = await call((await running(runtime("python"))).client);
    expect(old.text).toContain("25\\u00b0C");
    expect(since.text).toContain("25°C");
    expect(/^[\0-\u007f]*$/.test(old.text)).toBe(true);
  });

  it.each<[RuntimeStyle, string]>([
    ["python", '"error_type": "Boom"'],
    ["typescript", 'event: error\ndata: {"error":"the model went away"}'],
    ["typescript-strings", 'event: error\ndata: {"error":"the model went away"}'],
  ])("A failure inside the stream keeps the status 200: %s", async (style, line) => {
    const { client } = await running(runtime(style));
    const { body, text, statusCode } = await call(client, { payload: payload("fail") });
    expect(statusCode).toBe(200);
    expect(text).toContain(line);
    expect(folded(body).end).toMatchObject({ outcome: "failed" });
  });

  it("The style json answers with one JSON object, or fails as a whole", async () => {
    const { client } = await running(runtime("json"));
    const { text, contentType } = await call(client, { accept: "application/json" });
    expect(contentType).toBe("application/json");
    expect(JSON.parse(text)).toEqual({
      result: { role: "assistant", content: [{ text: `It's sunny in Tokyo, they said "25°C".` }] },
    });
    await expect(call(client, { payload: payload("fail") })).rejects.toMatchObject({
      name: "RuntimeClientError",
      $metadata: { httpStatusCode: 424 },
    });
  });

  it("An app in TypeScript refuses a client that does not accept a stream", async () => {
    const { client } = await running(runtime("typescript"));
    await expect(call(client, { accept: "application/json" })).rejects.toMatchObject({
      name: "RuntimeClientError",
      message: expect.stringContaining("Received error (406) from runtime") as string,
    });
    const python = await running(runtime("python"));
    expect((await call(python.client, { accept: "application/json" })).statusCode).toBe(200);
  });

  it("A payload that an app in Python cannot parse is reported to the client", async () => {
    const { client } = await running(runtime("python"));
    await expect(
      call(client, { payload: new TextEncoder().encode("{oops") }),
    ).rejects.toMatchObject({ name: "RuntimeClientError" });
  });

  it("A session id is generated if the client sends none", async () => {
    const { url } = await running(runtime("python"));
    const answer = await fetch(`${url}/runtimes/${encodeURIComponent(ARN)}/invocations`, {
      method: "POST",
      body: '{"prompt": "hi"}',
    });
    expect(answer.headers.get("x-amzn-bedrock-agentcore-runtime-session-id")).toMatch(
      /^[0-9a-f-]{36}$/,
    );
  });

  it("An agent is found by its id and account, and an unknown agent is not found", async () => {
    const { client } = await running(runtime("python"));
    const byId = { agentRuntimeArn: "weather-abcdefghij", accountId: "123456789012" };
    expect((await call(client, byId)).statusCode).toBe(200);
    await expect(call(client, { agentRuntimeArn: `${ARN}x` })).rejects.toMatchObject({
      name: "ResourceNotFoundException",
    });
  });

  it("The noise shows the system prompt from the second cycle on, as Strands does", async () => {
    const { client } = await running(runtime("python"));
    const { text } = await call(client);
    expect(text.split("You are a test agent.").length - 1).toBe(2);
  });
});

function payload(prompt: string): Uint8Array {
  return new TextEncoder().encode(JSON.stringify({ prompt }));
}

function recording(file: string): string {
  return readFileSync(join(import.meta.dirname, "../fixtures/strands", file), "utf8");
}

/** Lines without their variable parts: ids, addresses, durations and values printed late. */
function shapes(sse: string): string[] {
  return sse
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "UUID")
    .replaceAll(/<[\w.]+ object at 0x[0-9a-f]+>/g, "OBJECT")
    .replaceAll(/'tool_config': .*?'toolChoice'/g, "'tool_config': TOOLS, 'toolChoice'")
    .replaceAll(/'messages': .*?, '(?=system_prompt|tool_config)/g, "'messages': MESSAGES, '")
    .replaceAll(/('name': 'weather', 'input': )[^}]*\}?'?\}, 'agent'/g, "$1LATE}, 'agent'")
    .replaceAll(/metrics=EventLoopMetrics\(.*\), state/g, "METRICS, state")
    .split("\n")
    .filter((line) => line !== "");
}
