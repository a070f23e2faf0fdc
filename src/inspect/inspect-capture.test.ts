import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { splitChunks } from "../../test/support/bytes/bytes.ts";
import { encodeEvent } from "../wire/framing/eventstream-format.ts";
import { inspectCapture, type InspectOptions } from "./inspect-capture.ts";
import { PLAIN_STYLE } from "./trace-style.ts";

const captures = join(import.meta.dirname, "../../examples/captures");
const capture = new Uint8Array(readFileSync(join(captures, "support-turn.eventstream")));

async function inspected(
  bytes: Uint8Array,
  options: Partial<InspectOptions> & { readonly chunkSize?: number } = {},
): Promise<string> {
  const { chunkSize = 65_536, ...rest } = options;
  let written = "";
  await inspectCapture({
    chunks: (async function* () {
      yield* splitChunks(bytes, chunkSize);
    })(),
    name: "capture",
    output: "text",
    style: PLAIN_STYLE,
    write: async (text) => {
      written += text;
      return true;
    },
    ...rest,
  });
  return written;
}

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

function damagedPrelude(): Uint8Array {
  const frame = encodeEvent("messageStart", { role: "assistant" });
  frame[11] = (frame[11] ?? 0) ^ 1;
  return frame;
}

describe("Capture inspection", () => {
  it("The trace shows messages, thoughts, tool calls, results, the end and the usage", async () => {
    expect(await inspected(capture)).toBe(`assistant
  ~ The customer asks for order ORD-1001. I look it up first, then the shipment. [signed]
  Let me look at your order.
  → get_order (on the server) tooluse_7Qk2
    {
      "order_id": "ORD-1001"
    }

user
  ← get_order tooluse_7Qk2
    {
      "order_id": "ORD-1001",
      "status": "shipped",
      "items": [
        {
          "sku": "SHOE-42",
          "name": "Trail shoe “Grüße”",
          "quantity": 1
        }
      ],
      "carrier": "NordPost",
      "tracking": "NP-88231"
    }

assistant
  Your trail shoes are on their way with NordPost. 📦 I can ask the carrier where they are, and move the delivery to your neighbour; both need your consent.
  → track_parcel tooluse_mX31
    {
      "tracking": "NP-88231"
    }
  → redirect_parcel tooluse_b0Zd
    {
      "tracking": "NP-88231",
      "to": "neighbour",
      "note": "12 Harbour Street"
    }

action-required (tool_use) · 3 messages, 3 calls · tokens 3555 in, 281 out, cache 1536 read 0 written, 3836 total
waits for tooluse_mX31, tooluse_b0Zd
`);
  });

  it("The trace is the same for any chunk boundaries", async () => {
    expect(await inspected(capture, { chunkSize: 1 })).toBe(await inspected(capture));
  });

  it("Diagnostics are listed with byte offsets and the reason of the failure", async () => {
    const damaged = capture.slice();
    damaged[60] = (damaged[60] ?? 0) ^ 1;
    const trace = await inspected(damaged);
    expect(trace).toContain("frame_checksum: Frame 0 at byte 0 does not match its checksum");
    expect(trace).toContain(`
2 diagnostics
  checksum_mismatch at byte 0: Frame 0 at byte 0 does not match its checksum
  message_start_missing at byte 118: Content arrived without a message start; the role assistant was inferred
`);
  });

  it("The events format writes each event as a line of JSON", async () => {
    const lines = (await inspected(capture, { output: "events" })).trimEnd().split("\n");
    expect(JSON.parse(lines[0] ?? "")).toEqual({
      type: "message.start",
      message: 0,
      role: "assistant",
    });
    expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({
      type: "end",
      outcome: "action-required",
    });
  });

  it("The json format writes the turn as JSON", async () => {
    expect(JSON.parse(await inspected(capture, { output: "json" }))).toMatchObject({
      toolCalls: [{ name: "track_parcel" }, { name: "redirect_parcel" }],
      serverToolCalls: [{ toolCall: { name: "get_order" }, result: { isError: false } }],
      usage: { totalTokens: 3836 },
    });
  });

  it("The open-responses format writes Open Responses items", async () => {
    const { status, items } = JSON.parse(await inspected(capture, { output: "open-responses" }));
    expect(status).toBe("completed");
    expect(items.map((item: { type: string }) => item.type)).toEqual([
      "reasoning",
      "message",
      "function_call",
      "function_call_output",
      "message",
      "function_call",
      "function_call",
    ]);
  });

  it("Decoded events are read from an array, from lines and from a document", async () => {
    const events = [
      { messageStart: { role: "assistant" } },
      { contentBlockDelta: { contentBlockIndex: 0, delta: { text: "Hello" } } },
      { contentBlockStop: { contentBlockIndex: 0 } },
      { messageStop: { stopReason: "end_turn" } },
    ];
    const forms = [
      JSON.stringify(events),
      JSON.stringify(events, null, 2),
      events.map((event) => JSON.stringify(event)).join("\n"),
      JSON.stringify({ session_id: "x", events }),
      JSON.stringify({ session_id: "x", events }, null, 2),
    ];
    for (const form of forms) {
      expect(await inspected(encode(form))).toBe(
        "assistant\n  Hello\n\ncompleted (end_turn) · 1 message, 0 calls · no usage reported\n",
      );
    }
  });

  it("The SSE stream of a Strands agent is read", async () => {
    const stream = [
      { init_event_loop: true },
      { event: { messageStart: { role: "assistant" } } },
      { event: { contentBlockDelta: { delta: { text: "Hello" }, contentBlockIndex: 0 } } },
      { event: { contentBlockStop: { contentBlockIndex: 0 } } },
      { event: { messageStop: { stopReason: "end_turn" } } },
      { message: { role: "assistant", content: [{ text: "Hello" }] } },
    ];
    const sse = stream.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
    expect(await inspected(encode(sse))).toContain("assistant\n  Hello\n\ncompleted (end_turn)");
  });

  it("A stream cannot control the terminal", async () => {
    const hostile = encodeEvent("contentBlockDelta", {
      contentBlockIndex: 0,
      delta: { text: "\u001b]0;owned\u0007\u001b[2J\u202etxt" },
    });
    const trace = await inspected(hostile);
    for (const control of ["\u0007", "\u001b", "\u202e"]) expect(trace).not.toContain(control);
    expect(trace).toContain("\\u{1b}]0;owned\\u{7}\\u{1b}[2J\\u{202e}txt");
  });

  it("An unreadable file is reported with its detected content and the supported formats", async () => {
    await expect(inspected(encode("Hello"))).rejects.toMatchObject({
      code: "unreadable_input",
      message: `Cannot read capture: found text that starts with "Hello"; supported are AWS event streams, SSE, JSON arrays, JSON lines and the emulator's recordings`,
    });
  });

  it.each([
    ["an object", '{"name":"spanline","scripts":{"test":"vitest run"}}'],
    ["an object over several lines", '{\n  "name": "spanline",\n  "error": null\n}\n'],
    ["an empty object", "{}"],
    ["an array", '[{"name":"spanline"},[1,2],3,null]'],
    ["an empty array", "[]"],
    ["lines", '{"level":"info"}\n{"level":"debug"}\n'],
    ["values one after another", '{\n"level":"info"\n}\n{\n"level":"debug"\n}'],
  ])("JSON without a known stream is refused: %s", async (_, text) => {
    await expect(inspected(encode(text))).rejects.toMatchObject({
      code: "unreadable_input",
      message:
        "Cannot read capture: found JSON without any event of a known stream; supported are " +
        "AWS event streams, SSE, JSON arrays, JSON lines and the emulator's recordings, and any JSON response of an app with --as json",
    });
  });

  it("Invalid JSON is refused with the reason", async () => {
    await expect(inspected(encode('{"name":\u001b}'))).rejects.toMatchObject({
      message: expect.stringMatching(
        /^Cannot read capture: found JSON without any event of a known stream \(The document is not JSON: .*\\u\{1b\}.*\); supported are /,
      ),
    });
  });

  it.each([
    ['"Hello"', "  Hello\n"],
    ['{"result":"Hello"}', "  Hello\n"],
    ['{"result":""}', "completed"],
    ['{"result":{"total":3}}', "· structured-result\n"],
    ['{"message":{"role":"assistant","content":[{"text":"Hello"}]}}', "  Hello\n"],
    ['{"error":"no such model"}', "stream_exception: no such model"],
    ['[{"novelty":1},{"validationException":{"message":"no"}}]', "stream_exception"],
    [`${'{"novelty":1}\n'.repeat(2000)}{"init_event_loop":true}`, "· turn-started\n"],
  ])("A complete response or a late known event is shown: %s", async (text, expected) => {
    expect(await inspected(encode(text))).toContain(expected);
  });

  it("Any JSON is shown if its format was named", async () => {
    const trace = await inspected(encode('{"total":3}'), { capture: "json" });
    expect(trace).toContain("· structured-result\n\ncompleted");
    expect(await inspected(encode("[1]"), { capture: "json-array" })).toContain("? unknown event");
  });

  it("Reading stops early if no event is recognized", async () => {
    let pulled = 0;
    const chunks = (async function* () {
      for (; pulled < 10_000; pulled++) yield encode('{"level":"info"}\n'.repeat(1000));
    })();
    await expect(inspected(encode(""), { chunks })).rejects.toMatchObject({
      code: "unreadable_input",
    });
    expect(pulled).toBeLessThan(1000);
  });

  it.each([
    ["frame_checksum", damagedPrelude()],
    ["frame_invalid", encode('[{"messageStart":{"role":"assistant"}} oops')],
  ])("Reading stops where a stream becomes unreadable: %s", async (code, bytes) => {
    let pulled = 0;
    let closed = false;
    const chunks = (async function* () {
      try {
        for (; pulled < 100; pulled++) yield bytes;
      } finally {
        closed = true;
      }
    })();
    expect(await inspected(bytes, { chunks })).toContain(`\n${code}: `);
    expect({ pulled, closed }).toEqual({ pulled: 0, closed: true });
  });

  it("A named format is used without detection", async () => {
    expect(await inspected(encode("data: hello\n\n"), { capture: "sse" })).toContain("hello");
  });

  it("Reading stops when the output is closed", async () => {
    let pulled = 0;
    const frame = encodeEvent("messageStart", { role: "assistant" });
    const write = async (): Promise<boolean> => false;
    await inspectCapture({
      chunks: (async function* () {
        for (; pulled < 100; pulled++) yield frame;
      })(),
      name: "capture",
      output: "events",
      style: PLAIN_STYLE,
      write,
    });
    expect(pulled).toBeLessThan(3);
  });
});
