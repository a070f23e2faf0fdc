import { describe, expect, it } from "vitest";
import {
  completed,
  ended,
  plainTurn,
  readFixture,
  readFixtures,
  saidText,
  started,
  tokens,
} from "../../../../test/fixtures/strands/fixtures.ts";
import {
  splitChunks,
  fuzz,
  mutateBytes,
  splitRandomly,
  runWithState,
} from "../../../../test/support/bytes/bytes.ts";
import { runCodec } from "../../../domain/codec.ts";
import { isObject, parseJson } from "../../../data/json.ts";
import type { ProviderEvent } from "../../../domain/provider/provider-event.ts";
import { buildTurn, type Turn } from "../../../domain/provider/turn.ts";
import { createRuntimeStream, type RuntimeStreamOptions } from "./runtime-stream.ts";
import { allowLongTests, runs, testDepth } from "../../../../test/support/test-depth.ts";

allowLongTests();

const fixtures = readFixtures();
const encoder = new TextEncoder();

function fold(body: string | Uint8Array, options: RuntimeStreamOptions = {}): ProviderEvent[] {
  const bytes = typeof body === "string" ? encoder.encode(body) : body;
  return runCodec(createRuntimeStream(options), [bytes]);
}

function turnOfFixture(file: string): Turn {
  return buildTurn(fold(readFixture(file)));
}

/** Returns up to 1 KB from the start, up to the end of an event where possible. */
function headOf(bytes: Uint8Array): Uint8Array {
  if (bytes.length <= 1024) return bytes;
  const end = new TextDecoder("latin1").decode(bytes.subarray(0, 1024)).lastIndexOf("\n\n");
  return bytes.subarray(0, end + 2);
}

/** Returns the positions at which splitting the bytes changes the emitted events. */
function changingCuts(
  bytes: Uint8Array,
  places: Iterable<number>,
  options: RuntimeStreamOptions,
): number[] {
  // A deep comparison for each of 50,000 splits would take longer than the decoding.
  const expected = JSON.stringify(fold(bytes, options));
  return [...places].filter((at) => {
    const halves = [bytes.subarray(0, at), bytes.subarray(at)];
    return JSON.stringify(runCodec(createRuntimeStream(options), halves)) !== expected;
  });
}

/** All 230,000 splits of all recordings take over a minute, so only the full lane tests all of them. */
const CUT_STEP = { quick: 1009, usual: 131, full: 1, all: 1 }[testDepth()];

function* places(from: number, to: number, step: number): Generator<number> {
  for (let at = from; at <= to; at += step) yield at;
}

describe.each(fixtures)("The recording $file", ({ bytes, contentType }) => {
  const options = { contentType };
  const events = fold(bytes, options);

  it("The recording yields the same events for every split", () => {
    const head = headOf(bytes);
    expect(changingCuts(head, places(0, head.length, 1), options)).toEqual([]);
    expect(changingCuts(bytes, places(0, bytes.length, CUT_STEP), options)).toEqual([]);
    expect(runCodec(createRuntimeStream(options), splitChunks(bytes, 1))).toEqual(events);
  });

  it("The recording ends with exactly one end event", () => {
    expect(events.filter((event) => event.type === "end")).toEqual([events.at(-1)]);
  });

  it("Each diagnostic of the recording has an offset", () => {
    const unplaced = events.filter(
      (event) => event.type === "diagnostic" && event.diagnostic.offset === undefined,
    );
    expect(unplaced).toEqual([]);
  });
});

/** Recordings without a full message for comparison, with the reason. Their text is asserted in tests below. */
const WITHOUT_FULL_MESSAGES: ReadonlyMap<string, string> = new Map([
  ["py-exception.sse", "the model raises before its message is complete"],
  ["ts-exception.sse", "the model throws before its message is complete"],
  ["py-surrogates.sse", "encoding half a surrogate pair ends the stream"],
  ["py-graph.sse", "its messages belong to nodes"],
  ["py-swarm.sse", "its messages belong to nodes"],
  ["ts-graph.sse", "its messages belong to nodes"],
]);

describe("Recordings of complete agents", () => {
  const whole = fixtures.filter(({ bytes }) => {
    const text = new TextDecoder().decode(bytes);
    return /init_event_loop|beforeInvocationEvent/.test(text) && /"message"/.test(text);
  });

  const confirmed = whole.filter(({ file }) => !WITHOUT_FULL_MESSAGES.has(file));

  it.each(confirmed)(
    "The text of $file is emitted once and equals its full messages [AC-74]",
    (fixture) => {
      const turn = buildTurn(fold(fixture.bytes));
      const messageTexts = turn.messages.filter(({ role }) => role === "assistant").map(textOf);
      expect(messageTexts).toEqual(fullMessages(fixture.bytes));
      expect(messageTexts).not.toEqual([]);
      expect(turn.diagnostics.map(({ code }) => code)).not.toContain("text_disagrees");
    },
  );

  it.each([...WITHOUT_FULL_MESSAGES])("%s has no full message because %s", (file) => {
    expect(fullMessages(readFixture(file))).toEqual([]);
  });

  it.each(whole)("$file never succeeds if it is truncated before its last message", (fixture) => {
    const text = new TextDecoder().decode(fixture.bytes);
    const last = Math.max(
      text.lastIndexOf('data: {"message"'),
      text.lastIndexOf("modelMessageEvent"),
    );
    const isNested = /multiagent|NodeCall/.test(text);
    const end = isNested ? text.lastIndexOf("data: ") : last;
    const lines = text.slice(0, Math.max(0, end)).split(/(?<=\n)/);
    let at = 0;
    for (const line of lines) {
      const length = encoder.encode(line).length;
      for (const cut of [at, at + 1, at + (length >> 1), at + length - 1]) {
        expect(fold(fixture.bytes.subarray(0, cut)).at(-1)).toMatchObject({ outcome: "failed" });
      }
      at += length;
    }
  });
});

function textOf(message: Turn["messages"][number]): string {
  return message.blocks.map((block) => (block.type === "text" ? block.text : "")).join("");
}

/** The text of each full message in the stream, read independently with `JSON.parse` only. */
function fullMessages(bytes: Uint8Array): string[] {
  const lines = new TextDecoder().decode(bytes).split("\n");
  return lines.flatMap((line) => {
    if (!line.startsWith('data: {"message"') && !line.includes('"modelMessageEvent"')) return [];
    const parsed = parseJson(line.slice("data: ".length));
    const event = parsed.ok && isObject(parsed.value) ? parsed.value : {};
    const message = "inner" in event || !isObject(event["message"]) ? {} : event["message"];
    const { role, content } = message;
    if (role !== "assistant" || !Array.isArray(content)) return [];
    return [content.map((block: unknown) => blockText(block)).join("")];
  });
}

function blockText(block: unknown): string {
  if (!isObject(block)) return "";
  const { text, citationsContent } = block;
  if (isObject(citationsContent) && Array.isArray(citationsContent["content"])) {
    return citationsContent["content"].map((part: unknown) => blockText(part)).join("");
  }
  return typeof text === "string" ? text : "";
}

describe("Content of the recordings", () => {
  it("Tool calls answered by the agent itself are not open", () => {
    const { toolCalls, serverToolCalls, end } = turnOfFixture("py-two-tools.sse");
    expect(toolCalls).toEqual([]);
    expect(end?.openToolCallIds).toEqual([]);
    expect(
      serverToolCalls.map(({ toolCall, result }) => [toolCall.name, toolCall.input, result]),
    ).toEqual([
      [
        "weather",
        { city: "Kyoto" },
        {
          toolCallId: "tooluse_B1",
          parts: [{ type: "text", text: "Sunny, 25°C in Kyoto" }],
          isError: false,
        },
      ],
      [
        "fail",
        {},
        {
          toolCallId: "tooluse_B2",
          parts: [{ type: "text", text: "Error: RuntimeError - it's broken" }],
          isError: true,
        },
      ],
    ]);
  });

  it("A message with tool calls continues as after tool_use although the model reported end_turn", () => {
    const turn = turnOfFixture("py-forced-tool-use.sse");
    expect(turn.messages.map(({ reason }) => reason)).toEqual([
      "tool_use",
      "tool_result",
      "end_turn",
    ]);
    expect(turn.diagnostics.map(({ code }) => code)).toEqual([
      "stop_reason_contradicted",
      "noise_skipped",
    ]);
    expect(turn.end?.outcome).toBe("completed");
  });

  it.each(["py-guardrail.sse", "py-old-guardrail.sse", "ts-redaction.sse"])(
    "The text of %s redacted by the guardrail is replaced [AC-79]",
    (file) => {
      const events = fold(readFixture(file));
      expect(events.filter((event) => event.type === "message.replaced")).toEqual([
        { type: "message.replaced", message: 0, text: "[Assistant output redacted.]" },
      ]);
      expect(buildTurn(events)).toMatchObject({
        text: "[Assistant output redacted.]",
        end: { outcome: "limited", reason: "guardrail_intervened" },
      });
    },
  );

  it("An error inside a 200 response fails the turn, with the preceding force_stop [AC-80]", () => {
    const payload = {
      error: "the model went away",
      error_type: "Boom",
      message: "An error occurred during streaming",
    };
    expect(turnOfFixture("py-exception.sse")).toMatchObject({
      text: "Half a sen",
      end: {
        outcome: "failed",
        failure: {
          code: "stream_exception",
          message: "Boom: the model went away",
          details: { type: "Boom", payload, forceStop: "the model went away" },
        },
      },
    });
  });

  it("An error event fails the turn [AC-80]", () => {
    for (const [file, message, text] of [
      ["ts-exception.sse", "the model went away", "Half a sen"],
      ["ts-app-error.sse", "tool exploded", "Hello "],
    ] as const) {
      expect(turnOfFixture(file)).toMatchObject({
        text,
        end: {
          outcome: "failed",
          failure: {
            code: "stream_exception",
            message,
            details: { type: "error", payload: { error: message } },
          },
        },
      });
    }
  });

  it("At max_tokens, a turn fails if Strands raises an exception and is limited otherwise [AC-80]", () => {
    expect(turnOfFixture("py-max-tokens.sse").end).toMatchObject({
      outcome: "failed",
      reason: "max_tokens",
      failure: { details: { type: "MaxTokensReachedException" } },
    });
    expect(turnOfFixture("py-old-max-tokens.sse").end).toMatchObject({
      outcome: "limited",
      reason: "max_tokens",
    });
  });

  it("A surrogate pair split over two events is joined [AC-81]", () => {
    expect(turnOfFixture("py-old-surrogates.sse")).toMatchObject({
      text: "smile 😀 done",
      end: { outcome: "completed" },
    });
  });

  it("A lone surrogate becomes U+FFFD at the end of the stream [AC-81]", () => {
    const body = String.raw`data: "smile \ud83d"` + "\n\n";
    expect(buildTurn(fold(body))).toMatchObject({
      text: "smile \ufffd",
      diagnostics: [{ code: "unpaired_surrogate" }],
    });
  });

  it("Tokens are counted once, from the Converse events or from the full message", () => {
    expect(turnOfFixture("py-tool-turn.sse").usage).toEqual(tokens(300, 50));
    expect(turnOfFixture("py-message-only.sse").usage).toEqual(tokens(300, 50));
    expect(turnOfFixture("py-result-only.sse").usage).toEqual(tokens(300, 50));
  });

  it.each([
    "py-event-only.sse",
    "py-bare-events.sse",
    "py-message-only.sse",
    "py-data-events-tool.sse",
    "py-old-data-events.sse",
  ])("The complete text is found in %s, which forwards only one carrier [AC-85]", (file) => {
    expect(turnOfFixture(file)).toMatchObject({
      text: `Let me look that up.It's sunny in Tokyo, they said "25°C".`,
      toolCalls: [],
      end: { outcome: "completed", openToolCallIds: [] },
    });
  });

  it("The text is found in a result that is the only carrier [AC-76]", () => {
    for (const file of ["py-result-only.sse", "py-result-text.sse"]) {
      expect(turnOfFixture(file)).toMatchObject({
        text: `It's sunny in Tokyo, they said "25°C".`,
        end: { outcome: "completed" },
      });
    }
  });

  it("Strings without quotes are text [AC-85]", () => {
    expect(fold(readFixture("ts-strings.sse"))).toEqual(
      plainTurn(null, "Hello ", "two\nlines", ` and a quote: "x" {'a': 1}`, "こんにちは 😀"),
    );
  });

  it("Text of a nested agent is not part of the turn's text [AC-84]", () => {
    const turn = turnOfFixture("py-agent-as-tool.sse");
    expect(turn.text).toBe("Asking.The helper said it.");
    const progress = fold(readFixture("py-agent-as-tool.sse")).filter(
      (event) => event.type === "activity" && event.kind === "tool-progress",
    );
    expect(progress).toHaveLength(10);
    expect(progress[4]).toEqual({
      type: "activity",
      kind: "tool-progress",
      toolCallId: "tooluse_G1",
      label: "helper",
      raw: { event: { contentBlockDelta: { delta: { text: "One. " }, contentBlockIndex: 0 } } },
    });
  });

  it.each([
    ["py-graph.sse", "from second"],
    ["py-swarm.sse", "42"],
    ["ts-graph.sse", "from second"],
  ])(
    "Nodes of %s are reported as activities, and only their result is text [AC-84]",
    (file, text) => {
      const events = fold(readFixture(file));
      const firstText = events.findIndex((event) => event.type === "message.start");
      const lastNode = events.findLastIndex(
        (event) => event.type === "activity" && event.kind === "node",
      );
      expect(firstText).toBeGreaterThan(lastNode);
      expect(buildTurn(events)).toMatchObject({ text, end: { outcome: "completed" } });
    },
  );

  it("Other actions of an agent are reported as activities", () => {
    const activities = (file: string): unknown[] =>
      fold(readFixture(file)).filter(
        (event) => event.type === "activity" && !event.kind.endsWith("started"),
      );
    const toolUse = { toolUseId: "tooluse_A1", name: "weather", input: { city: "Tokyo" } };
    expect(activities("py-throttled.sse")).toEqual([
      { type: "activity", kind: "retry-wait", raw: 4 },
    ]);
    expect(activities("py-structured.sse")).toEqual([
      { type: "activity", kind: "structured-result", raw: { city: "Tokyo", degrees: 25 } },
    ]);
    expect(activities("py-cancel-tool.sse")).toEqual([
      {
        type: "activity",
        kind: "tool-cancelled",
        toolCallId: "tooluse_A1",
        label: "weather",
        raw: { tool_use: toolUse, message: "not allowed" },
      },
    ]);
    expect(activities("py-interrupt.sse")).toMatchObject([
      { kind: "interrupted", toolCallId: "tooluse_A1", label: "weather" },
    ]);
    expect(activities("ts-progress.sse")).toEqual([
      { type: "activity", kind: "tool-progress", raw: "step 1" },
    ]);
    expect(activities("py-announced.sse")).toMatchObject([
      { kind: "tool-call-opened", toolCallId: "tooluse_A1", label: "🔧 Weather" },
    ]);
  });

  it("A turn ends with the reason given by the agent loop", () => {
    expect(turnOfFixture("py-structured.sse").end).toMatchObject({
      outcome: "completed",
      reason: "tool_use",
    });
    expect(turnOfFixture("py-interrupt.sse").end).toMatchObject({
      outcome: "limited",
      reason: "interrupt",
      openToolCallIds: [],
    });
  });

  it("An event that the agent could not serialize is reported, and the turn completes", () => {
    const { diagnostics, end } = turnOfFixture("py-not-serialisable.sse");
    expect(diagnostics[0]).toMatchObject({
      code: "content_lost",
      message: 'The agent could not send an event of type "Odd"',
    });
    expect(end?.outcome).toBe("completed");
  });
});

describe("Responses that are not a stream", () => {
  const json = { contentType: "application/json" };

  it("A JSON body is the result [AC-83]", () => {
    expect(fold(readFixture("py-json-message.json"), json)).toEqual([
      started(0),
      ...saidText({ message: 0, block: 0 }, "One. Two."),
      ended(0, null),
      { type: "usage", usage: tokens(1, 2), latencyMs: 3 },
      completed(null, tokens(1, 2)),
    ]);
    expect(fold(readFixture("py-json-text.json"), json)).toEqual(plainTurn(null, "One. Two.\n"));
    expect(fold(readFixture("ts-json.json"), json)).toEqual([
      {
        type: "activity",
        kind: "structured-result",
        raw: { answer: 42, text: "plain return" },
      },
      completed(null),
    ]);
  });

  it("Plain text with the content type of JSON is text [AC-83]", () => {
    expect(fold(readFixture("ts-text.txt"), json)).toEqual(plainTurn(null, "just text"));
    expect(fold("just text", { contentType: "text/plain" })).toEqual(plainTurn(null, "just text"));
  });

  it("A JSON body with an error fails the turn [AC-80, AC-83]", () => {
    expect(fold('{"error": "no luck"}', json).at(-1)).toMatchObject({
      outcome: "failed",
      failure: { code: "stream_exception", message: "no luck" },
    });
  });

  it("A truncated JSON body fails the turn [AC-83]", () => {
    expect(fold('{"result": "Hel', json).at(-1)).toMatchObject({
      outcome: "failed",
      failure: { code: "truncated_stream", details: { pendingBytes: 15 } },
    });
  });

  it("An invalid JSON body fails the turn without being reported as truncated [AC-83]", () => {
    expect(fold('{"result": "Hi" "there"}', json).at(-1)).toMatchObject({
      outcome: "failed",
      failure: { code: "frame_invalid", message: expect.stringContaining("is not JSON") },
    });
  });

  it.each([
    "[Note] The answer is 42",
    '"Quoted" at its start',
    "{ never closed",
    "{'a': 1}",
    "[1] See the source",
    "42",
    "data: of no stream",
  ])("The plain text %s is kept unchanged [AC-83]", (text) => {
    expect(fold(text, { contentType: "text/plain; charset=utf-8" })).toEqual(plainTurn(null, text));
  });

  it("Plain text that is JSON as a whole is a result [AC-83]", () => {
    const plain = { contentType: "text/plain" };
    expect(fold('{"result": "Hi"}', plain)).toEqual(plainTurn(null, "Hi"));
    expect(fold('"Hi"', plain)).toEqual(plainTurn(null, "Hi"));
  });

  it.each(["[Note] The answer is 42", '"Quoted" at its start', "[1] See the source", "{'a': 1}"])(
    "%s with the content type of JSON is text [AC-83]",
    (text) => expect(fold(text, json)).toEqual(plainTurn(null, text)),
  );

  it.each([
    'data: "Hi"\n\n',
    '\r\n: comment\n\ndata: "Hi"\n\n',
    'event: token\ndata: "Hi"\n\n',
    '\u{feff}data: "Hi"\n\n',
  ])("An event stream with the content type of JSON is read: %j [AC-85]", (body) => {
    expect(fold(body, json)).toEqual(plainTurn(null, "Hi"));
    const bytes = encoder.encode(body);
    expect(runCodec(createRuntimeStream(json), splitChunks(bytes, 1))).toEqual(
      plainTurn(null, "Hi"),
    );
  });

  it("Text that starts like the name of an SSE field is text", () => {
    for (const text of ["data", "dat", "e", "events: none", " data: x", "\n".repeat(80) + "Hi"]) {
      expect(fold(text, json)).toEqual(plainTurn(null, text));
      const bytes = encoder.encode(text);
      expect(runCodec(createRuntimeStream(json), splitChunks(bytes, 1))).toEqual(
        plainTurn(null, text),
      );
    }
  });

  it("A body above the limit fails the turn, and its bytes are discarded", () => {
    const { out, state } = runWithState(
      createRuntimeStream({ ...json, maxBodyBytes: 1000 }),
      splitChunks(encoder.encode(JSON.stringify("x".repeat(100_000))), 100),
    );
    expect(out).toMatchObject([{ outcome: "failed", failure: { code: "event_too_large" } }]);
    expect(JSON.stringify(state)).not.toContain("xxxx");
  });

  it("An empty body fails the turn", () => {
    for (const contentType of ["application/json", "text/event-stream", null]) {
      expect(fold("", { contentType })).toEqual([
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
    }
  });

  it("Without a content type, the first byte distinguishes JSON from an event stream [AC-85]", () => {
    for (const body of [
      '{"result": "Hi"}',
      ' \n {"result": "Hi"}',
      '\u{feff}{"result": "Hi"}',
      '\u{feff}\n"Hi"',
      '\u{feff}data: "Hi"\n\n',
      '"Hi"',
      'data: "Hi"\n\n',
      '\n\ndata: "Hi"\n\n',
    ]) {
      expect(fold(body)).toEqual(plainTurn(null, "Hi"));
      expect(runCodec(createRuntimeStream(), splitChunks(encoder.encode(body), 1))).toEqual(
        plainTurn(null, "Hi"),
      );
    }
  });

  it("A response of an unsupported content type fails the turn and is quoted", () => {
    const contentType = "text/html; charset=utf-8";
    expect(fold("<html>Sign in</html>", { contentType }).at(-1)).toMatchObject({
      outcome: "failed",
      failure: {
        code: "unexpected_content_type",
        details: { contentType: "text/html", body: "<html>Sign in</html>" },
      },
    });
  });
});

describe("Arbitrary bytes", () => {
  // Short pieces of the recordings: a run is quick, and mutations hit relevant bytes.
  const samples = fixtures.flatMap(({ bytes, contentType }) => {
    const text = new TextDecoder().decode(bytes);
    const lines = text.split("\n\n").filter((line) => line.length < 450);
    if (!contentType.startsWith("text/event-stream")) return [{ bytes, contentType }];
    return [0, 3, 6, 9, 12, 18, 24, 30].flatMap((from) => {
      const piece = lines.slice(from, from + 2).join("\n\n");
      return piece === "" ? [] : [{ bytes: encoder.encode(`${piece}\n\n`), contentType }];
    });
  });

  it("Random bytes never cause a throw, end once and are not retained", () => {
    const count = 100_000;
    let ends = 0;
    fuzz(count, (random) => {
      const sample = samples[random(samples.length)];
      if (sample === undefined) return;
      const damaged = mutateBytes(sample.bytes, random);
      const options = random(8) === 0 ? {} : { contentType: sample.contentType };
      const { out, state } = runWithState(
        createRuntimeStream(options),
        splitRandomly(damaged, random),
      );
      if (out.at(-1)?.type !== "end") throw new Error("The last event is not the end");
      if (out.filter(({ type }) => type === "end").length !== 1) throw new Error("Not one end");
      const { recentMessageIds, announcedToolCallIds, converse, pendingData } = state.fold;
      if (recentMessageIds.length > 32 || announcedToolCallIds.size > 1024)
        throw new Error("Ids pile up");
      if (pendingData.length > 0) throw new Error("Pending data was not emitted");
      // Each block, slot and message is charged 64 characters in addition to its text.
      const pieces = 3 * (converse.blockCount + converse.messageCount) + out.length;
      if (converse.characters > 3 * damaged.length + 64 * pieces) throw new Error("Text piles up");
      ends += 1;
    });
    expect(ends).toBe(runs(count));
  });
});
