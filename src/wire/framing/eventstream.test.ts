import { EventStreamCodec, type Message, type MessageHeaderValue } from "@smithy/eventstream-codec";
import { fromUtf8, toUtf8 } from "@smithy/util-utf8";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  splitChunks,
  concat,
  fuzz,
  mutateBytes,
  splitRandomly,
  runWithState,
  twoWaySplits,
} from "../../../test/support/bytes/bytes.ts";
import { runCodec } from "../../domain/codec.ts";
import { FrameChecksumError, FrameError, TruncatedStreamError } from "../../domain/errors.ts";
import {
  createEventStreamDecoder,
  type EventStreamItem,
  type EventStreamOptions,
} from "./eventstream.ts";
import { encodeFrame, type HeaderValue } from "./eventstream-format.ts";
import { allowLongTests, runs } from "../../../test/support/test-depth.ts";

allowLongTests();

/** The codec of the AWS SDK. This codec encodes every frame in these tests, except in tests of our own encoder. */
const oracle = new EventStreamCodec(toUtf8, fromUtf8);

const allTypes: Message = {
  headers: {
    yes: { type: "boolean", value: true },
    no: { type: "boolean", value: false },
    byte: { type: "byte", value: -7 },
    short: { type: "short", value: -300 },
    integer: { type: "integer", value: 70_000 },
    binary: { type: "binary", value: Uint8Array.of(0, 255, 128) },
    string: { type: "string", value: "grüße 🚀" },
    timestamp: { type: "timestamp", value: new Date(1_790_000_000_123) },
    uuid: { type: "uuid", value: "550e8400-e29b-41d4-a716-446655440000" },
  },
  body: fromUtf8('{"a":1}'),
};

function event(name: string, payload: unknown): Uint8Array {
  return oracle.encode({
    headers: {
      ":event-type": { type: "string", value: name },
      ":content-type": { type: "string", value: "application/json" },
      ":message-type": { type: "string", value: "event" },
    },
    body: fromUtf8(JSON.stringify(payload)),
  });
}

const stream = concat(
  event("messageStart", { role: "assistant" }),
  event("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "Grüße, 世界 🌍" } }),
  event("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "plain" } }),
  oracle.encode(allTypes),
  oracle.encode({ headers: {}, body: new Uint8Array(0) }),
  event("messageStop", { stopReason: "end_turn" }),
);

/** Decodes to plain values. Frames are read while they are valid. */
function decode(chunks: Iterable<Uint8Array>, options?: EventStreamOptions): unknown[] {
  const codec = createEventStreamDecoder(options);
  const out: unknown[] = [];
  const keep = (item: EventStreamItem): void => {
    if (item.type !== "frame") out.push(item);
    else {
      const { headers, ordinal, offset, payload } = item;
      out.push({
        headers: [...headers],
        ordinal,
        offset,
        text: item.text(),
        payload: [...payload],
      });
    }
  };
  const state = codec.initial();
  for (const chunk of chunks) codec.step(state, chunk, keep);
  codec.finish(state, keep);
  return out;
}

function onlyFailure(bytes: Uint8Array, options?: EventStreamOptions): FrameError {
  const items = runCodec(createEventStreamDecoder(options), [bytes]);
  const last = items.at(-1);
  if (last?.type !== "failure") throw new Error("the decoder did not fail");
  return last.error;
}

/** Replaces the prelude and its checksum and leaves the remaining bytes unchanged. */
function withPrelude(total: number, headers: number, rest: Uint8Array): Uint8Array {
  const bytes = concat(new Uint8Array(12), rest);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, total);
  view.setUint32(4, headers);
  view.setUint32(8, crc(bytes.subarray(0, 8)));
  return bytes;
}

/** Builds a frame around a header block which no encoder would write. */
function withHeaderBlock(block: readonly number[]): Uint8Array {
  const total = 16 + block.length;
  const bytes = withPrelude(total, block.length, Uint8Array.from([...block, 0, 0, 0, 0]));
  new DataView(bytes.buffer).setUint32(total - 4, crc(bytes.subarray(0, total - 4)));
  return bytes;
}

/** Computes the checksum bit by bit, independently of the table under test. */
function crc(bytes: Uint8Array): number {
  let value = 0xffffffff;
  for (const byte of bytes) {
    value ^= byte;
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  }
  return ~value >>> 0;
}

function fromOracle(value: MessageHeaderValue): HeaderValue {
  if (value.type === "long") return { type: "long", value: int64(value.value.bytes) };
  if (value.type === "timestamp")
    return { type: "timestamp", value: BigInt(value.value.getTime()) };
  return value;
}

function int64(bytes: Uint8Array): bigint {
  return new DataView(bytes.buffer, bytes.byteOffset, 8).getBigInt64(0);
}

describe("Decoding event-stream frames", () => {
  const whole = decode([stream]);

  it("Frames written by the encoder of the AWS SDK are decoded", () => {
    expect(whole).toHaveLength(6);
    expect(whole[1]).toMatchObject({
      ordinal: 1,
      offset: event("messageStart", { role: "assistant" }).length,
      text: '{"contentBlockIndex":0,"delta":{"text":"Grüße, 世界 🌍"}}',
    });
  });

  it("Every two-way split and every chunk size from 1 to 64 yields the same frames [AC-1]", () => {
    for (const halves of twoWaySplits(stream)) expect(decode(halves)).toEqual(whole);
    for (let size = 1; size <= 64; size++) expect(decode(splitChunks(stream, size))).toEqual(whole);
  });

  it("A chunk larger than the window yields the same frames", () => {
    const frame = event("contentBlockDelta", {
      contentBlockIndex: 0,
      delta: { text: "x".repeat(999) },
    });
    const many = concat(...Array.from({ length: 2500 }, () => frame));
    const texts = decode([many]).map((item) => (item as { text: string }).text);
    expect(texts).toEqual(Array.from({ length: 2500 }, () => texts[0]));
  });

  it("A wrong prelude checksum is refused after 12 bytes, with offset and ordinal [AC-2]", () => {
    const good = event("messageStart", { role: "assistant" });
    const codec = createEventStreamDecoder();
    const state = codec.initial();
    const items: EventStreamItem[] = [];
    const bad = event("messageStop", {}).slice(0, 12);
    bad[8] = (bad[8] ?? 0) ^ 1;
    codec.step(state, good, (item) => items.push(item));
    codec.step(state, bad.subarray(0, 11), (item) => items.push(item));
    expect(items.map((item) => item.type)).toEqual(["frame"]);
    codec.step(state, bad.subarray(11), (item) => items.push(item));
    expect(items.at(-1)).toEqual({
      type: "failure",
      error: new FrameChecksumError(
        `The prelude of frame 1 at byte ${good.length} does not match its checksum`,
        { offset: good.length, ordinal: 1 },
      ),
    });
  });

  it("Frames before a wrong message checksum are delivered, followed by a FrameChecksumError [AC-3]", () => {
    const damaged = concat(event("messageStart", { role: "assistant" }), event("messageStop", {}));
    damaged[damaged.length - 6] = (damaged[damaged.length - 6] ?? 0) ^ 1;
    const items = runCodec(createEventStreamDecoder(), [damaged, stream]);
    expect(items.map((item) => item.type)).toEqual(["frame", "failure"]);
    expect(items[1]).toMatchObject({ error: expect.any(FrameChecksumError) });
  });

  it("Lenient mode skips a damaged frame, reports the fault and continues with the next frame", () => {
    const first = event("messageStart", { role: "assistant" });
    const second = event("contentBlockDelta", {}).slice();
    second[second.length - 6] = (second[second.length - 6] ?? 0) ^ 1;
    const items = runCodec(createEventStreamDecoder({ mode: "lenient" }), [
      concat(first, second, first),
    ]);
    expect(items.map((item) => item.type)).toEqual(["frame", "fault", "frame"]);
    expect(items[1]).toMatchObject({
      isLost: true,
      diagnostic: { code: "checksum_mismatch", offset: first.length },
    });
  });

  it.each([0, 1, 15])(
    "A total length of %i is refused without a loop or an allocation [AC-4]",
    (total) => {
      const error = onlyFailure(withPrelude(total, 0, new Uint8Array(64)));
      expect(error).toBeInstanceOf(FrameError);
      expect(error).toMatchObject({ code: "frame_invalid", offset: 0 });
    },
  );

  it("A frame above the limit is refused from its prelude, before any allocation [AC-5]", () => {
    const { out, state } = runWithState(createEventStreamDecoder(), [
      withPrelude(0xfffffff0, 0, new Uint8Array(0)),
    ]);
    expect(out).toMatchObject([{ type: "failure", error: { code: "frame_too_large", offset: 0 } }]);
    expect(state.partial.byteLength).toBe(0);
    const fits = withPrelude(24 * 1024 * 1024 + 128 * 1024, 0, new Uint8Array(0));
    expect(onlyFailure(fits)).toBeInstanceOf(TruncatedStreamError);
  });

  it("The buffer of an announced frame grows with the received bytes only [AC-5]", () => {
    const codec = createEventStreamDecoder();
    const state = codec.initial();
    codec.step(state, withPrelude(20 * 1024 * 1024, 0, new Uint8Array(100)), () => {});
    expect(state.partial.byteLength).toBeLessThan(1024 * 1024);
  });

  it("A header block longer than its frame and values that exceed the block are refused [AC-6]", () => {
    expect(onlyFailure(withPrelude(32, 17, new Uint8Array(20)))).toMatchObject({
      code: "frame_invalid",
    });
    const cases = [
      [5, 97],
      [1, 97],
      [1, 97, 7],
      [1, 97, 7, 0],
      [1, 97, 7, 0, 5, 98],
      [1, 97, 4, 0, 0],
      [1, 97, 9, 0, 0],
    ];
    for (const block of cases) {
      expect(onlyFailure(withHeaderBlock(block)), String(block)).toMatchObject({
        code: "frame_invalid",
        message: expect.stringContaining("runs past the header block"),
      });
    }
  });

  it("All ten header types are decoded to the values of the AWS SDK [AC-7]", () => {
    const [frame] = decode([oracle.encode(allTypes)]) as [{ headers: [string, HeaderValue][] }];
    const expected = Object.entries(allTypes.headers).map(([name, value]) => [
      name,
      fromOracle(value),
    ]);
    expect(frame.headers).toEqual(expected);
    const long = withHeaderBlock([1, 97, 5, 0x80, 0, 0, 0, 0, 0, 0, 1]);
    expect(decode([long])).toMatchObject([
      { headers: [["a", { type: "long", value: -(2n ** 63n) + 1n }]] },
    ]);
  });

  it("An unknown header type is refused with its offset [AC-7]", () => {
    expect(onlyFailure(withHeaderBlock([1, 97, 10, 0]))).toMatchObject({
      code: "frame_invalid",
      message: 'Header "a" has the unknown type 10 at byte 14',
      offset: 14,
    });
  });

  it("Strict mode refuses a repeated header; lenient mode takes the last value with a diagnostic [AC-8]", () => {
    const twice = withHeaderBlock([1, 97, 0, 1, 97, 1]);
    expect(onlyFailure(twice)).toMatchObject({ code: "frame_invalid" });
    expect(decode([twice], { mode: "lenient" })).toMatchObject([
      { type: "fault", isLost: false, diagnostic: { code: "duplicate_header", offset: 0 } },
      { headers: [["a", { type: "boolean", value: false }]] },
    ]);
  });

  it("A frame with an empty payload is accepted [AC-9]", () => {
    const empty = oracle.encode({ headers: {}, body: new Uint8Array(0) });
    expect(decode([empty])).toEqual([
      { headers: [], ordinal: 0, offset: 0, text: "", payload: [] },
    ]);
  });

  it("A stream that ends inside a frame is reported with the pending bytes [AC-12]", () => {
    for (let cut = 1; cut < 20; cut++) {
      const error = onlyFailure(stream.subarray(0, stream.length - cut));
      expect(error).toBeInstanceOf(TruncatedStreamError);
      const frame = event("messageStop", { stopReason: "end_turn" });
      expect(error).toMatchObject({
        pendingBytes: frame.length - cut,
        offset: stream.length - frame.length,
      });
    }
  });

  it("A stream that ends between frames produces no failure", () => {
    expect(runCodec(createEventStreamDecoder(), [])).toEqual([]);
    expect(runCodec(createEventStreamDecoder(), [stream])).toHaveLength(6);
  });

  it("Random bytes never cause a throw, a hang or a buffer larger than the input", () => {
    const frames = [stream, withHeaderBlock([1, 97, 0, 1, 97, 1]), oracle.encode(allTypes)];
    fuzz(100_000, (random) => {
      const bytes = mutateBytes(frames[random(frames.length)] ?? stream, random);
      const mode = random(2) === 0 ? "strict" : "lenient";
      const { out, state } = runWithState(createEventStreamDecoder({ mode }), [bytes]);
      const split = runWithState(
        createEventStreamDecoder({ mode }),
        splitRandomly(bytes, random),
      ).out;
      if (out.map((item) => item.type).join() !== split.map((item) => item.type).join()) {
        throw new Error("the split feed gives other items");
      }
      if (state.partial.byteLength > Math.max(4096, 2 * bytes.length)) {
        throw new Error(`holds ${state.partial.byteLength} bytes`);
      }
    });
  });
});

describe("Encoding event-stream frames", () => {
  const header = fc.oneof(
    fc.boolean().map((value): HeaderValue => ({ type: "boolean", value })),
    fc.integer({ min: -128, max: 127 }).map((value): HeaderValue => ({ type: "byte", value })),
    fc.integer({ min: -32768, max: 32767 }).map((value): HeaderValue => ({ type: "short", value })),
    fc.integer().map((value): HeaderValue => ({ type: "integer", value })),
    fc
      .bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
      .map((value): HeaderValue => ({ type: "long", value })),
    fc.uint8Array({ maxLength: 40 }).map((value): HeaderValue => ({ type: "binary", value })),
    fc
      .string({ unit: "binary", maxLength: 40 })
      .map((value): HeaderValue => ({ type: "string", value })),
    fc
      .bigInt({ min: 0n, max: 8_640_000_000_000n })
      .map((value): HeaderValue => ({ type: "timestamp", value })),
    fc.uuid().map((value): HeaderValue => ({ type: "uuid", value })),
  );
  // Names of digits only would be reordered by the plain object in which the SDK stores headers.
  const name = fc
    .string({ unit: "grapheme-ascii", minLength: 1, maxLength: 12 })
    .map((text) => `h${text}`);
  const headers = fc.uniqueArray(fc.tuple(name, header), {
    selector: ([key]) => key,
    maxLength: 8,
  });

  it("An encoded frame decodes to the same values, encodes to the same bytes, and is read by the AWS SDK [AC-16]", () => {
    fc.assert(
      fc.property(headers, fc.uint8Array({ maxLength: 300 }), (input, payload) => {
        const bytes = encodeFrame({ headers: input, payload });
        const [frame] = decode([bytes]) as [
          { headers: [string, HeaderValue][]; payload: number[] },
        ];
        expect(frame).toMatchObject({ headers: input, payload: [...payload] });
        const again = encodeFrame({
          headers: frame.headers,
          payload: Uint8Array.from(frame.payload),
        });
        expect(again).toEqual(bytes);
        const read = oracle.decode(bytes);
        expect(
          Object.entries(read.headers).map(([key, value]) => [key, fromOracle(value)]),
        ).toEqual(input);
        expect([...read.body]).toEqual([...payload]);
      }),
      { numRuns: runs(2000) },
    );
  });

  it("A frame of the AWS SDK is encoded again to the same bytes [AC-16]", () => {
    for (const bytes of [oracle.encode(allTypes), event("metadata", { usage: {} })]) {
      const [frame] = decode([bytes]) as [{ headers: [string, HeaderValue][]; payload: number[] }];
      const payload = Uint8Array.from(frame.payload);
      expect(encodeFrame({ headers: frame.headers, payload })).toEqual(new Uint8Array(bytes));
    }
  });

  it("Headers that the format cannot represent are refused", () => {
    const payload = new Uint8Array(0);
    const refused: [string, HeaderValue][] = [
      ["", { type: "boolean", value: true }],
      ["n".repeat(256), { type: "boolean", value: true }],
      ["long", { type: "string", value: "x".repeat(65_536) }],
      ["id", { type: "uuid", value: "not-a-uuid" }],
    ];
    for (const pair of refused) {
      expect(() => encodeFrame({ headers: [pair], payload })).toThrow(
        expect.objectContaining({ code: "frame_invalid" }),
      );
    }
  });
});
