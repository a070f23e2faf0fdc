import { describe, expect, it } from "vitest";
import {
  completed,
  ended,
  plainTurn,
  readFixture,
  saidText,
  started,
  tokens,
} from "../../../test/fixtures/strands/fixtures.ts";
import { splitChunks, concat } from "../../../test/support/bytes/bytes.ts";
import { runCodec } from "../../domain/codec.ts";
import type { DiagnosticCode } from "../../domain/diagnostic.ts";
import type { Failure } from "../../domain/errors.ts";
import type { ProviderEvent, TurnEnd } from "../../domain/provider/provider-event.ts";
import { createRuntimeStream, type RuntimeStreamOptions } from "./runtime/runtime-stream.ts";

const encoder = new TextEncoder();

function fold(
  body: string | Uint8Array,
  options: RuntimeStreamOptions = { contentType: "text/event-stream" },
): ProviderEvent[] {
  const bytes = typeof body === "string" ? encoder.encode(body) : body;
  return runCodec(createRuntimeStream(options), [bytes]);
}

function sse(...values: readonly unknown[]): string {
  return values.map((value) => `data: ${JSON.stringify(value)}\n\n`).join("");
}

function skipped(count: number, offset: number): ProviderEvent {
  const message = `${count} line(s) repeated earlier content and were skipped`;
  return { type: "diagnostic", diagnostic: { code: "noise_skipped", message, count, offset } };
}

function diagnostic(code: DiagnosticCode, message: string, offset: number): ProviderEvent {
  return { type: "diagnostic", diagnostic: { code, message, offset } };
}

function failed(failure: Failure, reason: string | null = null): TurnEnd {
  return { type: "end", outcome: "failed", reason, openToolCallIds: [], usage: null, failure };
}

const TURN_STARTED = { type: "activity", kind: "turn-started" } as const;
const CYCLE_STARTED = { type: "activity", kind: "cycle-started" } as const;

/** The first two messages of the recorded tool turns: a tool call and its result. */
function toolRound(toolCallId: string): ProviderEvent[] {
  return [
    started(0),
    { type: "reasoning.delta", message: 0, block: 0, text: "The user wants " },
    { type: "reasoning.delta", message: 0, block: 0, text: "the weather." },
    {
      type: "reasoning.end",
      message: 0,
      block: 0,
      text: "The user wants the weather.",
      signature: "c2lnLTE=",
    },
    ...saidText({ message: 0, block: 1 }, "Let me ", "look that up."),
    { type: "tool.start", message: 0, block: 2, toolCallId, name: "weather" },
    { type: "tool.delta", message: 0, block: 2, toolCallId, text: '{"city": "To' },
    { type: "tool.delta", message: 0, block: 2, toolCallId, text: 'kyo"}' },
    {
      type: "tool.end",
      message: 0,
      block: 2,
      toolCall: {
        id: toolCallId,
        name: "weather",
        inputText: '{"city": "Tokyo"}',
        runBy: "server",
        input: { city: "Tokyo" },
      },
    },
    ended(0, "tool_use"),
    { type: "usage", usage: tokens(120, 30), latencyMs: 800 },
    started(1, "user"),
    {
      type: "tool.result",
      message: 1,
      block: 3,
      result: {
        toolCallId,
        parts: [{ type: "text", text: "Sunny, 25°C in Tokyo" }],
        isError: false,
      },
    },
    ended(1, "tool_result"),
  ];
}

describe("The same text in several carriers (1)", () => {
  it("Text that Python sends three times is emitted once [AC-73, AC-74]", () => {
    const bytes = readFixture("py-tool-turn.sse");
    expect(fold(bytes)).toEqual([
      TURN_STARTED,
      CYCLE_STARTED,
      ...toolRound("tooluse_A1"),
      CYCLE_STARTED,
      started(2),
      ...saidText({ message: 2, block: 4 }, "It's sunny in ", 'Tokyo, they said "25°C".'),
      ended(2, "end_turn"),
      { type: "usage", usage: tokens(180, 20), latencyMs: 600 },
      skipped(10, bytes.length),
      completed("end_turn", tokens(300, 50)),
    ]);
  });

  it("Text that TypeScript sends six times is emitted once [AC-73, AC-74, AC-85]", () => {
    expect(fold(readFixture("ts-tool-turn.sse"))).toEqual([
      TURN_STARTED,
      CYCLE_STARTED,
      ...toolRound("tooluse_T1"),
      CYCLE_STARTED,
      started(2),
      ...saidText({ message: 2, block: 4 }, "晴れです ", "😀 in Tokyo."),
      ended(2, "end_turn"),
      { type: "usage", usage: tokens(180, 20), latencyMs: 600 },
      completed("end_turn", tokens(300, 50)),
    ]);
  });

  it("Streams of old Python apps with ASCII escapes yield the same events [AC-74]", () => {
    const bytes = readFixture("py-old-tool-turn.sse");
    const now = fold(readFixture("py-tool-turn.sse"));
    expect(fold(bytes)).toEqual(
      now.map((event) => (event.type === "diagnostic" ? skipped(10, bytes.length) : event)),
    );
  });
});

describe("Apps that forward part of the stream (2, 3)", () => {
  it("Bare strings are the complete text [AC-73]", () => {
    expect(fold(readFixture("py-data-strings.sse"))).toEqual(
      plainTurn(null, "こんにちは、", "世界 😀", "\u2028次の行\n「引用」と'quote'"),
    );
  });

  it("The text is recovered from reprs if they are its only carrier [AC-73, AC-76]", () => {
    expect(fold(readFixture("py-data-events-tool.sse"))).toEqual([
      started(0),
      ...saidText({ message: 0, block: 0 }, "Let me ", "look that up."),
      ended(0, null),
      started(1),
      ...saidText({ message: 1, block: 1 }, "It's sunny in ", 'Tokyo, they said "25°C".'),
      ended(1, null),
      completed(null),
    ]);
  });
});

describe("Python reprs (4, 5, 6)", () => {
  it("Every quoting style of Python strings is decoded [AC-73, AC-76]", () => {
    expect(fold(readFixture("py-data-events.sse"))).toEqual(
      plainTurn(
        null,
        "plain",
        " it's",
        ' say "hi"',
        ` it's "both"`,
        "\n\t\x07\\ \u2028\u{e0001}é\u00a0\u00ad",
        "{'a': 1}",
      ),
    );
  });

  it("Text that only resembles a repr stays text [AC-73, AC-78]", () => {
    const texts = ["{'a': 1}", "{'data': 'x'}", "{'data': broken", "{'message': {'role': 'x'}}"];
    for (const text of texts) expect(fold(sse(text))).toEqual(plainTurn(null, text));
  });

  it("Converse events and messages carried only by a repr are read [AC-73, AC-76]", () => {
    const bytes = readFixture("py-redacted-reasoning.sse");
    expect(fold(bytes)).toEqual([
      TURN_STARTED,
      CYCLE_STARTED,
      started(0),
      {
        type: "reasoning.end",
        message: 0,
        block: 0,
        text: "",
        redacted: Buffer.from("\x00\xff'\"\x80secret\n", "latin1").toString("base64"),
      },
      ...saidText({ message: 0, block: 1 }, "I cannot show my thoughts."),
      ended(0, "end_turn"),
      { type: "usage", usage: tokens(9, 6), latencyMs: 300 },
      skipped(4, bytes.length),
      completed("end_turn", tokens(9, 6)),
    ]);
  });

  it("A tool result carried only by a repr is read with its bytes [AC-73, AC-76]", () => {
    const image = {
      format: "png",
      source: { bytes: Buffer.from("\x89PNG\r\n\x1a\n'\"", "latin1").toString("base64") },
    };
    const toolCall = {
      id: "tooluse_I1",
      name: "picture",
      inputText: "{}",
      runBy: "server",
      input: {},
    } as const;
    const bytes = readFixture("py-image.sse");
    expect(fold(bytes)).toEqual([
      TURN_STARTED,
      CYCLE_STARTED,
      started(0),
      { type: "tool.start", message: 0, block: 0, toolCallId: toolCall.id, name: toolCall.name },
      { type: "tool.delta", message: 0, block: 0, toolCallId: toolCall.id, text: "{}" },
      { type: "tool.end", message: 0, block: 0, toolCall },
      ended(0, "tool_use"),
      { type: "usage", usage: tokens(1, 2), latencyMs: 3 },
      started(1, "user"),
      {
        type: "tool.result",
        message: 1,
        block: 1,
        result: {
          toolCallId: toolCall.id,
          parts: [
            { type: "unknown", raw: { image } },
            { type: "text", text: "dot" },
          ],
          isError: false,
        },
      },
      ended(1, "tool_result"),
      CYCLE_STARTED,
      started(2),
      ...saidText({ message: 2, block: 2 }, "A red dot."),
      ended(2, "end_turn"),
      { type: "usage", usage: tokens(1, 2), latencyMs: 3 },
      skipped(3, bytes.length),
      completed("end_turn", tokens(2, 4)),
    ]);
  });

  it("An unreadable repr is reported as lost content, and none of it is emitted [AC-73, AC-76]", () => {
    const reprs = [
      ["data", "{'data': 'x', 'agent': <A object at 0x1>, 'event_loop_cycle_id': UUID('"],
      ["event", "{'event': {'contentBlockDelta': {'delta': {'text': b'\\x"],
      ["message", "{'message': {'role': 'assistant', 'content': [{'text': 'x'}, b'"],
    ];
    for (const [key, repr] of reprs) {
      const message = `The repr of a "${key}" event cannot be read: It ends inside a string`;
      expect(fold(sse(repr))).toEqual([
        diagnostic("content_lost", message, 0),
        failed({ code: "malformed_event", message, details: {} }),
      ]);
    }
  });

  it("A turn completes if the full message contains the lost event [AC-73, AC-76]", () => {
    const start = sse({ event: { messageStart: { role: "assistant" } } });
    const rest = sse(
      "{'event': {'contentBlockDelta': {'delta': {'text': b'\\x",
      { event: { messageStop: { stopReason: "end_turn" } } },
      { message: { role: "assistant", content: [{ text: "All of it" }] } },
    );
    const message = 'The repr of a "event" event cannot be read: It ends inside a string';
    expect(fold(start + rest)).toEqual([
      started(0),
      diagnostic("content_lost", message, start.length),
      ended(0, "end_turn"),
      { type: "message.replaced", message: 0, text: "All of it" },
      completed("end_turn"),
    ]);
  });
});

describe("Events inside strings (7)", () => {
  const turn = [
    started(0),
    ...saidText({ message: 0, block: 0 }, "One. ", "Two."),
    ended(0, "end_turn"),
    { type: "usage", usage: tokens(1, 2), latencyMs: 3 },
    completed("end_turn", tokens(1, 2)),
  ];

  it("Events sent as strings of JSON are read [AC-73]", () => {
    expect(fold(readFixture("py-json-in-string.sse"))).toEqual(turn);
  });

  it("Event streams sent as strings are read [AC-73]", () => {
    expect(fold(readFixture("py-sse-in-string.sse"))).toEqual(turn);
  });

  it("JSON and event streams written by a model stay text", () => {
    const texts = [
      '{"answer": 42}',
      "data: not an event\n\n",
      "data: 1 of 2\n\nand more\n\n",
      "event: x",
    ];
    for (const text of texts) expect(fold(sse(text))).toEqual(plainTurn(null, text));
  });
});

describe("Event-stream syntax (8, 9, 10)", () => {
  it("Fields are read as defined by the standard [AC-73]", () => {
    const body = [
      ": a comment alone\n\n",
      'data:"no space"\n\n',
      'data:  " two spaces"\n\n',
      "data\n\n",
      "unknown: field\n",
      'data: {"data":\n',
      'data: " two lines"}\n\n',
      'id: 7\nretry: 10\nevent: token\ndata: " last"\n\n',
    ].join("");
    expect(fold(body)).toEqual(plainTurn(null, "no space", " two spaces", " two lines", " last"));
  });

  it("The lines of one event are joined with a line break [AC-73]", () => {
    expect(fold("data: two\ndata: lines\n\n")).toEqual(plainTurn(null, "two\nlines"));
  });

  it("Comments are skipped [AC-73]", () => {
    const body = `: heartbeat\n\n${sse("Hi")}: heartbeat\n\n`;
    expect(fold(body)).toEqual(plainTurn(null, "Hi"));
  });

  it("All line ends, a byte order mark and a last event without its blank line are read [AC-73]", () => {
    const lines = ['data: "A "', "", 'data: "b"', "", ""];
    const expected = plainTurn(null, "A ", "b");
    for (const end of ["\n", "\r\n", "\r"]) expect(fold(lines.join(end))).toEqual(expected);
    expect(fold(`\u{feff}${lines.join("\r\n")}`)).toEqual(expected);
    expect(fold('data: "A "\n\ndata: "b"')).toEqual(expected);
    const cut = splitChunks(encoder.encode(lines.join("\r\n")), 11);
    expect(runCodec(createRuntimeStream(), cut)).toEqual(expected);
  });

  it("Split characters are joined, and U+2028 does not end a line [AC-73]", () => {
    const text = "日本\u2028\u2029\u0085😀";
    const bytes = encoder.encode(sse(text));
    expect(runCodec(createRuntimeStream(), splitChunks(bytes, 1))).toEqual(plainTurn(null, text));
  });
});

describe("Numbers and keys (11)", () => {
  it("NaN, Infinity, 64-bit integers and unusual keys are kept [AC-73, AC-82]", () => {
    const bytes = readFixture("py-numbers.sse");
    const text = new TextDecoder().decode(bytes);
    const delta = text.indexOf("data: ", 10);
    const custom = text.indexOf('data: {"custom"');
    const raw = { custom: { big: "9223372036854775807", inf: Infinity, minus: -Infinity } };
    const expected: ProviderEvent[] = [
      started(0),
      { type: "unknown", what: "field", name: "strands.score", raw: NaN },
      diagnostic("unknown_field", 'Unknown field "strands.score" is kept as it came', delta),
      ...saidText({ message: 0, block: 0 }, "n"),
      { type: "unknown", what: "event", name: "custom", raw },
      diagnostic("unknown_event", 'Unknown event "custom" is kept as it came', custom),
      ended(0, "end_turn"),
      completed("end_turn"),
    ];
    expect(fold(bytes)).toEqual(expected);
    const big = { custom: { ...raw.custom, big: 9223372036854775807n } };
    expect(fold(bytes, { bigIntegers: "bigint" })).toEqual(
      expected.map((event) =>
        event.type === "unknown" && event.what === "event" ? { ...event, raw: big } : event,
      ),
    );
  });

  it("The last of two equal keys wins, and __proto__ stays an ordinary key [AC-42, AC-73]", () => {
    const body = 'data: {"custom": 1, "custom": 2, "__proto__": {"polluted": true}}\n\n';
    const [unknown] = fold(body);
    expect(unknown).toMatchObject({ type: "unknown", name: "custom" });
    expect(unknown?.type === "unknown" && JSON.stringify(unknown.raw)).toBe(
      '{"custom":2,"__proto__":{"polluted":true}}',
    );
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});

describe("Truncated streams (12)", () => {
  const text = new TextDecoder().decode(readFixture("py-japanese.sse"));

  it("A stream truncated inside an event fails with truncated_stream [AC-73]", () => {
    const at = text.indexOf('{"message": ');
    const offset = encoder.encode(text.slice(0, at - "data: ".length)).length;
    const pendingBytes = "data: ".length + 20;
    const message = `The stream ended inside an event, ${pendingBytes} bytes after its start at byte ${offset}`;
    expect(fold(text.slice(0, at + 20)).at(-1)).toEqual({
      ...failed(
        { code: "truncated_stream", message, details: { offset, pendingBytes } },
        "end_turn",
      ),
      usage: tokens(7, 8),
    });
  });

  it("A stream without the full message after the last event fails [AC-73]", () => {
    const message = "The stream ended before the full copy that confirms the last message";
    expect(fold(text.slice(0, text.indexOf('data: {"message"'))).at(-1)).toEqual({
      ...failed({ code: "incomplete_turn", message, details: {} }, "end_turn"),
      usage: tokens(7, 8),
    });
  });

  it("A stream truncated between events inside a message fails [AC-73]", () => {
    const message = "The stream ended inside a message";
    expect(fold(text.slice(0, text.indexOf('data: {"event": {"messageStop"'))).at(-1)).toEqual(
      failed({ code: "incomplete_turn", message, details: {} }),
    );
  });

  it("A stream truncated while the agent runs its tools fails and leaves no tool call open", () => {
    const turn = new TextDecoder().decode(readFixture("py-tool-turn.sse"));
    const message = "The stream stopped for tools, but no tool call waits for a result";
    expect(fold(turn.slice(0, turn.indexOf('data: {"message": {"role": "user"'))).at(-1)).toEqual({
      ...failed({ code: "incomplete_turn", message, details: {} }, "tool_use"),
      usage: tokens(120, 30),
    });
  });
});

describe("Large events (13)", () => {
  const start = sse(
    { event: { messageStart: { role: "assistant" } } },
    { event: { contentBlockDelta: { delta: { text: "Hi" }, contentBlockIndex: 0 } } },
  );
  const end = sse(
    { event: { contentBlockStop: { contentBlockIndex: 0 } } },
    { event: { messageStop: { stopReason: "end_turn" } } },
  );

  it("A repr of 12 MB is skipped without parsing [AC-73, AC-75]", () => {
    // Neither a complete Python literal nor a complete JSON string: any parser would report an error.
    const noise = `data: "{'data': 'Hi', 'agent': <${"\\u12 ' ".repeat(1_700_000)}\n\n`;
    const body = concat(encoder.encode(start), encoder.encode(noise), encoder.encode(end));
    expect(body.length).toBeGreaterThan(10_000_000);
    expect(
      runCodec(createRuntimeStream({ maxEventBytes: 4096 }), splitChunks(body, 65_536)),
    ).toEqual([
      started(0),
      ...saidText({ message: 0, block: 0 }, "Hi"),
      ended(0, "end_turn"),
      skipped(1, body.length),
      completed("end_turn"),
    ]);
  });

  it("An event above the limit fails the turn if the event must be read [AC-73]", () => {
    const large = `data: {"custom": "${"x".repeat(5000)}"}\n\n`;
    const offset = start.length;
    const message = `The event at byte ${offset} is larger than the limit of 4096 bytes`;
    const late = (name: string, event: string): ProviderEvent =>
      diagnostic(
        "event_after_end",
        `"${name}" came after the failure that ended the turn`,
        offset + large.length + end.indexOf(event),
      );
    const [delta, stop] = saidText({ message: 0, block: 0 }, "Hi");
    expect(fold(start + large + end, { maxEventBytes: 4096 })).toEqual([
      started(0),
      delta,
      late("contentBlockStop", 'data: {"event":{"contentBlockStop"'),
      stop,
      late("messageStop", 'data: {"event":{"messageStop"'),
      ended(0, "end_turn"),
      failed({ code: "event_too_large", message, details: { offset } }, "end_turn"),
    ]);
  });
});

describe("Fields with two meanings (14)", () => {
  it("A message that is a string is interpreted by the type of its event [AC-73]", () => {
    const handoff = {
      type: "multiagent_handoff",
      from_node_ids: ["a"],
      to_node_ids: ["b"],
      message: "the content of a handoff",
    };
    const cancel = { type: "multiagent_node_cancel", node_id: "b", message: "content" };
    const plain = { message: "content" };
    expect(fold(sse(handoff, cancel, plain))).toEqual([
      { type: "activity", kind: "node", raw: handoff },
      { type: "activity", kind: "node", label: "b", raw: cancel },
      { type: "unknown", what: "event", name: "message", raw: plain },
      diagnostic(
        "unknown_event",
        'Unknown event "message" is kept as it came',
        sse(handoff, cancel).length,
      ),
      failed({
        code: "incomplete_turn",
        message: "The stream ended before any message",
        details: {},
      }),
    ]);
  });

  it("The event of a node belongs to a nested agent and is never a Converse event [AC-73, AC-84]", () => {
    const inner = {
      event: { contentBlockDelta: { delta: { text: "inner" }, contentBlockIndex: 0 } },
    };
    const node = { type: "multiagent_node_stream", node_id: "a", event: inner };
    const data = { type: "multiagent_node_stream", node_id: "a", event: { data: "inner" } };
    expect(fold(sse(node, data))).toEqual([
      { type: "activity", kind: "node", label: "a", raw: node },
      { type: "activity", kind: "node", label: "a", raw: data },
      failed({
        code: "incomplete_turn",
        message: "The stream ended before any message",
        details: {},
      }),
    ]);
  });
});

describe("Block indexes (15)", () => {
  const start = sse({ event: { messageStart: { role: "assistant" } } });
  const rest = (contentBlockIndex: unknown): string =>
    sse(
      { event: { contentBlockDelta: { delta: { text: "Hi" }, contentBlockIndex } } },
      { event: { contentBlockStop: { contentBlockIndex } } },
      { event: { messageStop: { stopReason: "end_turn" } } },
    );
  const invalid = (index: unknown): string =>
    `Content block index of type ${typeof index} is not a whole number from 0`;

  it("Converse events without an index, or with null, are read [AC-73]", () => {
    const bytes = readFixture("py-no-index.sse");
    expect(fold(bytes)).toEqual([
      TURN_STARTED,
      CYCLE_STARTED,
      started(0),
      ...saidText({ message: 0, block: 0 }, "No ", "index"),
      ended(0, "end_turn"),
      { type: "usage", usage: tokens(1, 2), latencyMs: 3 },
      skipped(3, bytes.length),
      completed("end_turn", tokens(1, 2)),
    ]);
  });

  it("Converse events with an invalid index are read with a diagnostic [AC-73]", () => {
    for (const index of [-1, 1.5, "x", true]) {
      expect(fold(start + rest(index))).toEqual([
        started(0),
        diagnostic("block_index_invalid", invalid(index), start.length),
        ...saidText({ message: 0, block: 0 }, "Hi"),
        ended(0, "end_turn"),
        completed("end_turn"),
      ]);
    }
  });

  it("An object as index does not match its stop event [AC-73]", () => {
    const body = start + rest({});
    expect(fold(body)).toEqual([
      started(0),
      diagnostic("block_index_invalid", invalid({}), start.length),
      { type: "text.delta", message: 0, block: 0, text: "Hi" },
      diagnostic(
        "block_stop_unmatched",
        "A stop event arrived for a block which is not open",
        body.indexOf('data: {"event":{"contentBlockStop"'),
      ),
      diagnostic(
        "block_stop_missing",
        "A text block was never closed by the provider",
        body.indexOf('data: {"event":{"messageStop"'),
      ),
      { type: "text.end", message: 0, block: 0, text: "Hi", implicitStop: true },
      ended(0, "end_turn"),
      completed("end_turn"),
    ]);
  });
});
