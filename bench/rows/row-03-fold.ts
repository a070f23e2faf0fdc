import { createAmazonBedrock } from "@ai-sdk/amazon-bedrock";
import { HttpResponse } from "@smithy/core/protocols";
import { BedrockModel, Message, TextBlock } from "@strands-agents/sdk";
import { Readable } from "node:stream";
import { crc32 } from "../../src/wire/framing/eventstream-format.ts";
import { createHarnessStream } from "../../src/wire/agentcore/harness/harness-stream.ts";
import { measure, computeMedian, type Subject } from "../measure.ts";
import type { Row } from "../report.ts";
import { splitChunks, encodeTextTurn } from "../streams.ts";

const DELTAS = 20_000;

/** Fold of a stream with 20,000 deltas, from bytes to events. */
export async function measureFold(): Promise<Row> {
  const subjects = [
    createSpanlineSubject(DELTAS),
    createFloorSubject(DELTAS),
    createAiSdkSubject(DELTAS),
    createStrandsSubject(DELTAS),
  ];
  const measured = await measure(subjects, { units: DELTAS });
  const [spanline = 0, floor = 0, ai = 0, strandsCost = 0] = measured.map(({ rounds }) =>
    computeMedian(rounds),
  );
  const growth = [];
  for (const times of [1, 4, 16]) {
    const units = (DELTAS / 4) * times;
    const [result] = await measure([createSpanlineSubject(units)], { units, rounds: 5 });
    growth.push({ times, cost: computeMedian(result?.rounds ?? []) });
  }
  return {
    title: "fold of a 20 k-delta stream, bytes to events",
    unit: "µs CPU/event",
    measured,
    growth,
    ratios: [
      { text: "AI SDK Bedrock ÷ spanline", value: ai / spanline, target: 12, bound: "at least" },
      {
        text: "Strands TS ÷ spanline",
        value: strandsCost / spanline,
        target: 8,
        bound: "at least",
      },
      {
        text: "split + CRC + JSON.parse ÷ spanline",
        value: floor / spanline,
        target: 0.65,
        bound: "at least",
      },
    ],
  };
}

function createSpanlineSubject(deltas: number): Subject {
  const chunks = splitChunks(encodeTextTurn(deltas));
  return {
    name: "spanline",
    run() {
      const codec = createHarnessStream();
      const state = codec.initial();
      let count = 0;
      const emit = (event: { readonly type: string }): void => {
        if (event.type === "text.delta") count += 1;
      };
      for (const chunk of chunks) codec.step(state, chunk, emit);
      codec.finish(state, emit);
      expectDeltas(count, deltas);
    },
  };
}

/** The minimum work of any reader: split frames, verify checksums, parse JSON. */
function createFloorSubject(deltas: number): Subject {
  const bytes = Buffer.from(encodeTextTurn(deltas));
  return {
    name: "split + CRC + JSON.parse",
    run() {
      let count = 0;
      for (let at = 0; at < bytes.length;) {
        const total = bytes.readUInt32BE(at);
        const headers = bytes.readUInt32BE(at + 4);
        if (crc32(bytes, at, at + total - 4) !== bytes.readUInt32BE(at + total - 4)) {
          throw new Error("checksum");
        }
        const payload: unknown = JSON.parse(
          bytes.toString("utf8", at + 12 + headers, at + total - 4),
        );
        if (typeof payload === "object" && payload !== null && "delta" in payload) count += 1;
        at += total;
      }
      expectDeltas(count, deltas);
    },
  };
}

/** The AI SDK's Bedrock provider, with a `fetch` which returns the same bytes. */
function createAiSdkSubject(deltas: number): Subject {
  const chunks = splitChunks(encodeTextTurn(deltas));
  const bedrock = createAmazonBedrock({
    region: "us-east-1",
    apiKey: "bench",
    fetch: async () =>
      new Response(
        new ReadableStream({
          start(controller) {
            for (const chunk of chunks) controller.enqueue(chunk);
            controller.close();
          },
        }),
        { headers: { "content-type": "application/vnd.amazon.eventstream" } },
      ),
  });
  const model = bedrock("anthropic.claude-sonnet-4-20250514-v1:0");
  return {
    name: "AI SDK Bedrock (doStream)",
    async run() {
      const { stream } = await model.doStream({
        prompt: [{ role: "user", content: [{ type: "text", text: "hi" }] }],
      });
      let count = 0;
      for await (const part of stream) if (part.type === "text-delta") count += 1;
      expectDeltas(count, deltas);
    },
  };
}

/** The Strands SDK's Bedrock model, with a request handler which returns the same bytes. */
function createStrandsSubject(deltas: number): Subject {
  const chunks = splitChunks(encodeTextTurn(deltas));
  const model = new BedrockModel({
    region: "us-east-1",
    modelId: "anthropic.claude-sonnet-4-20250514-v1:0",
    clientConfig: {
      credentials: { accessKeyId: "bench", secretAccessKey: "bench" },
      requestHandler: {
        handle: async () => ({
          response: new HttpResponse({
            statusCode: 200,
            headers: { "content-type": "application/vnd.amazon.eventstream" },
            body: Readable.from(chunks),
          }),
        }),
      },
    },
  });
  const messages = [new Message({ role: "user", content: [new TextBlock("hi")] })];
  return {
    name: "Strands TS (BedrockModel.stream)",
    async run() {
      let count = 0;
      for await (const event of model.stream(messages)) {
        if (event.type === "modelContentBlockDeltaEvent") count += 1;
      }
      expectDeltas(count, deltas);
    },
  };
}

function expectDeltas(count: number, expected: number): void {
  if (count !== expected) throw new Error(`folded ${count} deltas, expected ${expected}`);
}
