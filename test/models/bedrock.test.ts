import {
  BedrockRuntimeClient,
  ConverseStreamCommand,
  type ConverseStreamCommandInput,
} from "@aws-sdk/client-bedrock-runtime";
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { createSigner } from "../../src/aws/signer.ts";
import { createImageBlock } from "../../src/domain/model/image-block.ts";
import type { ModelRequest } from "../../src/domain/model/model-request.ts";
import { runCodec } from "../../src/domain/codec.ts";
import {
  createToolCall,
  createToolError,
  createToolSuccess,
} from "../../src/domain/tools/tool-call.ts";
import { buildTurn } from "../../src/domain/provider/turn.ts";
import type { Model } from "../../src/models/model.ts";
import { bedrock, BEDROCK_SERVICE } from "../../src/models/bedrock.ts";
import { createConverseFold } from "../../src/wire/converse/fold.ts";
import { readUnionEvent } from "../../src/wire/converse/parse.ts";
import {
  encodeAwsFrame,
  EVENT_STREAM,
  startEventStream,
  startPeer,
  encodeTextDelta,
  encodeTextTurn,
  type ReceivedRequest,
} from "../support/server/scripted-peer.ts";
import { ask, eventsOf, refusalOf } from "./run-model.ts";

const ARN = "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-v1:0";
const KEYS = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "secret" };
const authorize = createSigner({
  credentials: () => Promise.resolve(KEYS),
  region: "us-east-1",
  service: BEDROCK_SERVICE,
});

function model(endpoint: string): Model {
  return bedrock({ model: ARN, region: "us-east-1", authorize, endpoint });
}

const request: ModelRequest = {
  system: "Be brief.",
  messages: [
    { role: "user", blocks: [{ type: "text", text: "Hi" }] },
    {
      role: "assistant",
      blocks: [
        { type: "reasoning", text: "hm", signature: "c2ln" },
        { type: "reasoning", text: "", redacted: "cmVk" },
        {
          type: "tool-call",
          toolCall: createToolCall({
            id: "A",
            name: "look",
            inputText: '{"at":1}',
            runBy: "client",
          }),
        },
        {
          type: "tool-call",
          toolCall: createToolCall({ id: "B", name: "look", inputText: "", runBy: "client" }),
        },
      ],
    },
    {
      role: "user",
      blocks: [
        { type: "tool-result", result: createToolSuccess("A", { seen: true }) },
        { type: "tool-result", result: createToolError("B", "dark") },
        { type: "text", text: "And?" },
        createImageBlock("image/jpeg", "iVBORw=="),
      ],
    },
  ],
  tools: [{ name: "look", description: "Looks", schema: { type: "object", properties: {} } }],
  toolChoice: { tool: "look" },
  maxTokens: 100,
  temperature: 0.5,
  stopSequences: ["END"],
};

/** The same request as input of the AWS SDK. */
const sdkInput: ConverseStreamCommandInput = {
  modelId: ARN,
  system: [{ text: "Be brief." }],
  messages: [
    { role: "user", content: [{ text: "Hi" }] },
    {
      role: "assistant",
      content: [
        { reasoningContent: { reasoningText: { text: "hm", signature: "c2ln" } } },
        { reasoningContent: { redactedContent: Buffer.from("red") } },
        { toolUse: { toolUseId: "A", name: "look", input: { at: 1 } } },
        { toolUse: { toolUseId: "B", name: "look", input: {} } },
      ],
    },
    {
      role: "user",
      content: [
        { toolResult: { toolUseId: "A", content: [{ json: { seen: true } }] } },
        { toolResult: { toolUseId: "B", content: [{ text: "dark" }], status: "error" } },
        { text: "And?" },
        { image: { format: "jpeg", source: { bytes: Buffer.from("iVBORw==", "base64") } } },
      ],
    },
  ],
  toolConfig: {
    tools: [
      {
        toolSpec: {
          name: "look",
          description: "Looks",
          inputSchema: { json: { type: "object", properties: {} } },
        },
      },
    ],
    toolChoice: { tool: { name: "look" } },
  },
  inferenceConfig: { maxTokens: 100, temperature: 0.5, stopSequences: ["END"] },
};

interface SdkRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: { readonly [name: string]: string };
  readonly body: Uint8Array;
}

/** The unmodified client with its HTTP/2 transport replaced. */
async function askBySdk(
  input: ConverseStreamCommandInput,
  frames: readonly Uint8Array[],
): Promise<{ readonly events: unknown[]; readonly request: ReceivedRequest }> {
  const requests: ReceivedRequest[] = [];
  const client = new BedrockRuntimeClient({
    region: "us-east-1",
    credentials: KEYS,
    requestHandler: {
      handle({ method, path: url, headers, body }: SdkRequest) {
        requests.push({ method, url, headers, body: Buffer.concat([body]) });
        const answer = {
          statusCode: 200,
          headers: { "content-type": EVENT_STREAM },
          body: Readable.from(frames),
        };
        return Promise.resolve({ response: answer });
      },
    },
  });
  const { stream } = await client.send(new ConverseStreamCommand(input));
  const events: unknown[] = [];
  for await (const event of stream ?? []) events.push(event);
  const [request] = requests;
  if (request === undefined) throw new Error("The SDK sent nothing");
  return { events, request };
}

/** The parts of a request which the service evaluates. */
function essence({ method, url, headers, body }: ReceivedRequest): object {
  const signature = String(headers.authorization);
  return {
    method,
    url,
    type: headers["content-type"],
    scope: /Credential=AKIDEXAMPLE\/\d+\/(\S+),/.exec(signature)?.[1],
    body: JSON.parse(String(body)),
  };
}

describe("A model with ConverseStream", () => {
  it("The request equals the request of the AWS SDK", async () => {
    const peer = await startPeer((response) => {
      startEventStream(response);
      response.end(Buffer.concat(encodeTextTurn("ok")));
    });
    await eventsOf(model(peer.url), request);
    const theirs = await askBySdk(sdkInput, encodeTextTurn("ok"));
    expect(peer.requests.map(essence)).toEqual([essence(theirs.request)]);
  });

  it("The events equal those which the AWS SDK reads from the same frames", async () => {
    const frames = [
      encodeAwsFrame("messageStart", { role: "assistant", p: "ab" }),
      encodeAwsFrame("contentBlockDelta", {
        contentBlockIndex: 0,
        delta: { reasoningContent: { text: "hm" } },
        p: "abc",
      }),
      encodeAwsFrame("contentBlockStop", { contentBlockIndex: 0 }),
      encodeAwsFrame("contentBlockStart", {
        contentBlockIndex: 1,
        start: { toolUse: { toolUseId: "tooluse_1", name: "look" } },
      }),
      encodeAwsFrame("contentBlockDelta", {
        contentBlockIndex: 1,
        delta: { toolUse: { input: '{"at":"Zürich"}' } },
      }),
      encodeAwsFrame("contentBlockStop", { contentBlockIndex: 1 }),
      encodeAwsFrame("messageStop", { stopReason: "tool_use" }),
      encodeAwsFrame("metadata", {
        usage: { inputTokens: 3, outputTokens: 4, totalTokens: 7 },
        metrics: { latencyMs: 12 },
      }),
    ];
    const peer = await startPeer((response) => {
      startEventStream(response);
      for (const frame of frames) response.write(frame);
      response.end();
    });
    const turn = await ask(model(peer.url));
    const { events } = await askBySdk(sdkInput, frames);
    expect(buildTurn(runCodec(createConverseFold(), events.flatMap(readUnionEvent)))).toEqual(turn);
    expect(turn).toMatchObject({
      messages: [{ blocks: [{ type: "reasoning", text: "hm" }, { type: "tool-call" }] }],
      toolCalls: [{ id: "tooluse_1", input: { at: "Zürich" } }],
      usage: { totalTokens: 7 },
      end: { outcome: "action-required" },
      diagnostics: [],
    });
  });

  it("An exception inside the stream fails the turn with its cause", async () => {
    const peer = await startPeer((response) => {
      startEventStream(response);
      response.write(encodeAwsFrame("messageStart", { role: "assistant" }));
      response.write(encodeTextDelta("So far"));
      response.end(
        encodeAwsFrame("throttlingException", { message: "Too many tokens" }, "exception"),
      );
    });
    expect((await ask(model(peer.url))).end).toMatchObject({
      outcome: "failed",
      failure: { code: "throttled", details: { phase: "stream", requestId: "request-1" } },
    });
  });

  it("An error response is thrown with the service's message", async () => {
    const peer = await startPeer((response) => {
      response.writeHead(400, { "x-amzn-errortype": "ValidationException" });
      response.end('{"message":"The provided model identifier is invalid."}');
    });
    expect(await refusalOf(model(peer.url))).toMatchObject({
      code: "validation_failed",
      message: "ValidationException: The provided model identifier is invalid.",
    });
    expect(peer.requests).toHaveLength(1);
  });
});
