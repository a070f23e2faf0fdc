import { EventStreamCodec } from "@smithy/eventstream-codec";
import { fromUtf8, toUtf8 } from "@smithy/util-utf8";
import { describe, expect, it } from "vitest";
import {
  splitChunks,
  concat,
  fuzz,
  mutateBytes,
  splitRandomly,
  runWithState,
  twoWaySplits,
} from "../../../../test/support/bytes/bytes.ts";
import { runCodec } from "../../../domain/codec.ts";
import type { ProviderEvent } from "../../../domain/provider/provider-event.ts";
import { buildTurn } from "../../../domain/provider/turn.ts";
import { createHarnessStream } from "./harness-stream.ts";
import { isEventStream, createUnexpectedBodyReader } from "../response-body.ts";
import { allowLongTests } from "../../../../test/support/test-depth.ts";

allowLongTests();

const oracle = new EventStreamCodec(toUtf8, fromUtf8);

function frame(headers: { readonly [name: string]: string }, body: unknown): Uint8Array {
  return oracle.encode({
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, { type: "string", value }]),
    ),
    body: fromUtf8(typeof body === "string" ? body : JSON.stringify(body)),
  });
}

function event(name: string, body: unknown): Uint8Array {
  return frame(
    { ":event-type": name, ":content-type": "application/json", ":message-type": "event" },
    body,
  );
}

const start = event("messageStart", { role: "assistant" });
const frames = [
  start,
  event("contentBlockDelta", {
    contentBlockIndex: 0,
    delta: { text: "Grüße " },
    p: "abcdefghijkl",
  }),
  event("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "🌍" } }),
  event("contentBlockStop", { contentBlockIndex: 0 }),
  event("contentBlockStart", {
    contentBlockIndex: 0,
    start: { toolUse: { toolUseId: "A", name: "a" } },
  }),
  event("contentBlockDelta", { contentBlockIndex: 0, delta: { toolUse: { input: '{"x":1}' } } }),
  event("contentBlockStart", {
    contentBlockIndex: 0,
    start: { toolUse: { toolUseId: "B", name: "b" } },
  }),
  event("contentBlockStop", { contentBlockIndex: 0 }),
  event("messageStop", { stopReason: "tool_use" }),
  event("metadata", {
    usage: { inputTokens: 3, outputTokens: 4, totalTokens: 7 },
    metrics: { latencyMs: 5 },
  }),
];
const answer = concat(...frames);
const events = runCodec(createHarnessStream(), [answer]);

function lastOf(out: readonly ProviderEvent[]): ProviderEvent | undefined {
  return out.at(-1);
}

describe("Decoding a harness response", () => {
  it("Frames written by the encoder of the AWS SDK are folded to a turn", () => {
    expect(buildTurn(events)).toMatchObject({
      text: "Grüße 🌍",
      toolCalls: [
        { id: "A", input: { x: 1 } },
        { id: "B", input: {} },
      ],
      usage: { inputTokens: 3, outputTokens: 4, totalTokens: 7 },
      end: { outcome: "action-required", openToolCallIds: ["A", "B"] },
    });
  });

  it("Every two-way split and single bytes yield the same events [AC-1]", () => {
    for (const halves of twoWaySplits(answer))
      expect(runCodec(createHarnessStream(), halves)).toEqual(events);
    expect(runCodec(createHarnessStream(), splitChunks(answer, 1))).toEqual(events);
  });

  it("Each diagnostic has its offset in the stream [RMA-P1-14]", () => {
    expect(events.flatMap((out) => (out.type === "diagnostic" ? [out.diagnostic] : []))).toEqual([
      {
        code: "block_stop_missing",
        message: "A call block was never closed by the provider",
        offset: concat(...frames.slice(0, 6)).length,
      },
    ]);
  });

  it("Padding of up to 1 MB is decoded and never emitted [AC-15]", () => {
    for (const size of [0, 1, 4096, 1_000_000]) {
      const padded = event("contentBlockDelta", {
        contentBlockIndex: 0,
        delta: { text: "hi" },
        p: "z".repeat(size),
      });
      const stop = event("messageStop", { stopReason: "end_turn", p: "z" });
      const out = runCodec(createHarnessStream(), [concat(start, padded, stop)]);
      expect(buildTurn(out).text).toBe("hi");
      expect(JSON.stringify(out)).not.toContain("z");
    }
  });

  it("A turn truncated inside a frame fails with the number of pending bytes [AC-12, RMA-P0-2]", () => {
    expect(lastOf(runCodec(createHarnessStream(), [answer.subarray(0, -3)]))).toMatchObject({
      type: "end",
      outcome: "failed",
      failure: { code: "truncated_stream", details: { pendingBytes: expect.any(Number) } },
    });
  });

  it("A turn that ends between frames without its final event fails [AC-12]", () => {
    expect(lastOf(runCodec(createHarnessStream(), [start]))).toMatchObject({
      outcome: "failed",
      failure: { code: "incomplete_turn" },
    });
  });

  it("An empty body fails the turn [AC-13]", () => {
    expect(runCodec(createHarnessStream(), [])).toEqual([
      {
        type: "end",
        outcome: "failed",
        reason: null,
        openToolCallIds: [],
        usage: null,
        failure: {
          code: "incomplete_turn",
          message: "The stream ended before any message",
          details: {},
        },
      },
    ]);
  });

  it("Events before an exception are kept, and the turn fails [SD-32]", () => {
    const exception = frame(
      { ":message-type": "exception", ":exception-type": "throttlingException" },
      { message: "Rate exceeded" },
    );
    const turn = buildTurn(runCodec(createHarnessStream(), [...frames.slice(0, 3), exception]));
    expect(turn.text).toBe("Grüße 🌍");
    expect(turn.end).toMatchObject({
      outcome: "failed",
      failure: { code: "stream_exception", message: "throttlingException: Rate exceeded" },
    });
  });

  it("A second exception frame is kept and reported with its offset in the stream [AC-34]", () => {
    const exception = (type: string, message: string) =>
      frame({ ":message-type": "exception", ":exception-type": type }, { message });
    const first = exception("throttlingException", "Rate exceeded");
    const second = exception("internalServerException", "Gone");
    const turn = buildTurn(runCodec(createHarnessStream(), [...frames.slice(0, 3), first, second]));
    expect(turn.unknown).toEqual([
      { type: "unknown", what: "event", name: "internalServerException", raw: { message: "Gone" } },
    ]);
    expect(turn.diagnostics).toContainEqual({
      code: "failure_repeated",
      message: '"internalServerException" came after the failure that decided the turn',
      offset: [...frames.slice(0, 3), first].reduce((sum, { length }) => sum + length, 0),
    });
    expect(turn.end?.failure?.message).toBe("throttlingException: Rate exceeded");
  });

  it("A damaged frame fails the turn, also in lenient mode [RMA-P1-14]", () => {
    const damaged = answer.slice();
    damaged[start.length + 100] = (damaged[start.length + 100] ?? 0) ^ 4;
    const strict = buildTurn(runCodec(createHarnessStream(), [damaged]));
    expect(strict.end).toMatchObject({
      failure: { code: "frame_checksum", details: { offset: start.length } },
    });
    const lenient = buildTurn(runCodec(createHarnessStream({ mode: "lenient" }), [damaged]));
    expect(lenient.messages[0]?.blocks.map((block) => block.type)).toEqual([
      "text",
      "tool-call",
      "tool-call",
    ]);
    expect(lenient.toolCalls).toEqual([]);
    expect(lenient.end).toMatchObject({ outcome: "failed", failure: { code: "frame_checksum" } });
    expect(lenient.diagnostics[0]).toMatchObject({
      code: "checksum_mismatch",
      offset: start.length,
    });
  });

  it("Random bytes never cause a throw and end exactly once", () => {
    fuzz(100_000, (random) => {
      const bytes = mutateBytes(answer, random);
      const mode = random(2) === 0 ? "strict" : "lenient";
      const { out, state } = runWithState(
        createHarnessStream({ mode, maxCharacters: 1000 }),
        splitRandomly(bytes, random),
      );
      if (out.filter((item) => item.type === "end").length !== 1) throw new Error("not one end");
      if (state.frames.partial.byteLength > Math.max(4096, 2 * bytes.length))
        throw new Error("grew");
    });
  });
});

describe("A response that is not an event stream", () => {
  it("An event stream is recognized by its content type", () => {
    expect(isEventStream("application/vnd.amazon.eventstream; charset=x")).toBe(true);
    expect(isEventStream("application/json")).toBe(false);
    expect(isEventStream(null)).toBe(false);
  });

  it("The error quotes the content type and the first 1 KB of the body [AC-14]", () => {
    const page = fromUtf8(`<html>${"x".repeat(5000)}`);
    const [error] = runCodec(createUnexpectedBodyReader("text/html"), splitChunks(page, 700));
    expect(error).toMatchObject({
      code: "unexpected_content_type",
      details: { contentType: "text/html", body: `<html>${"x".repeat(1018)}`, bytes: 5006 },
    });
    expect(error?.message).toContain("text/html: expected application/vnd.amazon.eventstream");
  });
});
