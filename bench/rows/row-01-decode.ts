import { EventStreamMarshaller } from "@smithy/core/event-streams";
import { EventStreamCodec } from "@smithy/eventstream-codec";
import { fromUtf8, toUtf8 } from "@smithy/util-utf8";
import { Readable } from "node:stream";
import { createEventStreamDecoder } from "../../src/wire/framing/eventstream.ts";
import { readStreamMessage } from "../../src/wire/framing/eventstream-message.ts";
import { measure, computeMedian, type Subject } from "../measure.ts";
import type { Row } from "../report.ts";
import { splitChunks, encodeTextTurn } from "../streams.ts";

const EVENTS = 20_000;

/** Event-stream decoding and JSON parsing, in process [AC-97]. */
export async function measureDecode(): Promise<Row> {
  const ours = createSpanlineSubject(EVENTS);
  const measured = await measure(
    [ours, createAwsPathSubject(EVENTS), createAwsCodecSubject(EVENTS)],
    { units: EVENTS },
  );
  const [spanline, aws] = measured.map(({ rounds }) => computeMedian(rounds));
  const growth = [];
  for (const times of [1, 4, 16]) {
    const units = (EVENTS / 4) * times;
    const [result] = await measure([createSpanlineSubject(units)], { units, rounds: 5 });
    growth.push({ times, cost: computeMedian(result?.rounds ?? []) });
  }
  return {
    title: "event-stream decode + JSON, in process",
    unit: "µs CPU/event",
    measured,
    growth,
    ratios: [
      {
        text: "AWS SDK path ÷ spanline",
        value: (aws ?? Number.NaN) / (spanline ?? Number.NaN),
        target: 7,
        bound: "at least",
      },
    ],
  };
}

function createSpanlineSubject(events: number): Subject {
  const chunks = splitChunks(encodeTextTurn(events));
  return {
    name: "spanline",
    run() {
      const decoder = createEventStreamDecoder();
      const state = decoder.initial();
      let count = 0;
      for (const chunk of chunks) {
        decoder.step(state, chunk, (item) => {
          if (item.type === "frame" && readStreamMessage(item).type === "event") count += 1;
        });
      }
      expectEvents(count, events);
    },
  };
}

/** Chunker, codec and async generators as in the AWS SDK, plus the JSON parsing of its clients. */
function createAwsPathSubject(events: number): Subject {
  const chunks = splitChunks(encodeTextTurn(events));
  const marshaller = new EventStreamMarshaller({ utf8Encoder: toUtf8, utf8Decoder: fromUtf8 });
  return {
    name: "AWS SDK path (@smithy marshaller + codec)",
    async run() {
      const stream = marshaller.deserialize(Readable.from(chunks), async (event) => {
        const [message] = Object.values(event);
        return JSON.parse(toUtf8(message?.body ?? new Uint8Array(0)));
      });
      let count = 0;
      for await (const event of stream) if (event !== undefined) count += 1;
      expectEvents(count, events);
    },
  };
}

/** Only the codec, called with whole frames: the cost without the SDK's generators. */
function createAwsCodecSubject(events: number): Subject {
  const bytes = encodeTextTurn(events);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const codec = new EventStreamCodec(toUtf8, fromUtf8);
  return {
    name: "@smithy/eventstream-codec, called directly",
    run() {
      let count = 0;
      for (let at = 0; at < bytes.length;) {
        const length = view.getUint32(at);
        const { body } = codec.decode(bytes.subarray(at, at + length));
        if (JSON.parse(toUtf8(body)) !== undefined) count += 1;
        at += length;
      }
      expectEvents(count, events);
    },
  };
}

/** Guards against a subject which skips work and looks fast. A turn has four events in addition to its deltas. */
function expectEvents(count: number, deltas: number): void {
  if (count !== deltas + 4) throw new Error(`decoded ${count} events, expected ${deltas + 4}`);
}
