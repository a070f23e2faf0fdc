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

/** The first 1 KB or less, up to the end of an event where there is one. */
function headOf(bytes: Uint8Array): Uint8Array {
  if (bytes.length <= 1024) return bytes;
  const end = new TextDecoder("latin1").decode(bytes.subarray(0, 1024)).lastIndexOf("\n\n");
  return bytes.subarray(0, end + 2);
}

/** The places at which cutting bytes in two changes what comes out. */
function changingCuts(
  bytes: Uint8Array,
  places: Iterable<number>,
  options: RuntimeStreamOptions,
): number[] {
  // A deep comparison for each of 50 000 cuts would take longer than the cuts.
  const expected = JSON.stringify(fold(bytes, options));
  return [...places].filter((at) => {
    const halves = [bytes.subarray(0, at), bytes.subarray(at)];
    return JSON.stringify(runCodec(createRuntimeStream(options), halves)) !== expected;
  });
}

/** All 230,000 cuts of all recordings take over a minute: only the full lane makes them all. */
const CUT_STEP = { quick: 1009, usual: 131, full: 1 }[testDepth()];

function* places(from: number, to: number, step: number): Generator<number> {
  for (let at = from; at <= to; at += step) yield at;
}

describe.each(fixtures)("the recording $file", ({ bytes, contentType }) => {
  const options = { contentType };
  const events = fold(bytes, options);

  it("gives the same events however it is cut", () => {
    const head = headOf(bytes);
    expect(changingCuts(head, places(0, head.length, 1), options)).toEqual([]);
    expect(changingCuts(bytes, places(0, bytes.length, CUT_STEP), options)).toEqual([]);
    expect(runCodec(createRuntimeStream(options), splitChunks(bytes, 1))).toEqual(events);
  });

  it("ends once, and last", () => {
    expect(events.filter((event) => event.type === "end")).toEqual([events.at(-1)]);
  });

  it("has a place in the stream for each diagnostic", () => {
    const unplaced = events.filter(
      (event) => event.type === "diagnostic" && event.diagnostic.offset === undefined,
    );
    expect(unplaced).toEqual([]);
  });
});

/** Recordings that have nothing to compare their text with, and why. What they say is asserted further down. */
const WITHOUT_FULL_MESSAGES: ReadonlyMap<string, string> = new Map([
  ["py-exception.sse", "the model raises before its message is whole"],
  ["ts-exception.sse", "the model throws before its message is whole"],
  ["py-surrogates.sse", "encoding half a surrogate pair ends the stream"],
  ["py-graph.sse", "its messages are those of nodes"],
  ["py-swarm.sse", "its messages are those of nodes"],
  ["ts-graph.sse", "its messages are those of nodes"],
]);

describe("recordings of whole agents", () => {
  const whole = fixtures.filter(({ bytes }) => {
    const text = new TextDecoder().decode(bytes);
    return /init_event_loop|beforeInvocationEvent/.test(text) && /"message"/.test(text);
  });

  const confirmed = whole.filter(({ file }) => !WITHOUT_FULL_MESSAGES.has(file));

  it.each(confirmed)(
    "$file says its text once, as its full messages have it [AC-74]",
    (fixture) => {
      const turn = buildTurn(fold(fixture.bytes));
      const told = turn.messages.filter(({ role }) => role === "assistant").map(textOf);
      expect(told).toEqual(fullMessages(fixture.bytes));
      expect(told).not.toEqual([]);
      expect(turn.diagnostics.map(({ code }) => code)).not.toContain("text_disagrees");
    },
  );

  it.each([...WITHOUT_FULL_MESSAGES])("%s has no full message, since %s", (file) => {
    expect(fullMessages(readFixture(file))).toEqual([]);
  });

  it.each(whole)("$file is never a success when it is cut before its last message", (fixture) => {
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

/** What the stream itself says at the end of each message, read with nothing of ours but `JSON.parse`. */
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

describe("what the recordings say", () => {
  it("answers calls by the agent's own results, so none is open", () => {
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

  it("goes on as after tool_use where the model said end_turn", () => {
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
    "replaces the text of %s that the guardrail took back [AC-79]",
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

  it("fails a turn whose error came inside a 200, with the force_stop before it [AC-80]", () => {
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

  it("fails a turn that an error event ends [AC-80]", () => {
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

  it("fails a turn at max_tokens where Strands raises it, and limits it where it does not [AC-80]", () => {
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

  it("joins a surrogate pair that came in two events [AC-81]", () => {
    expect(turnOfFixture("py-old-surrogates.sse")).toMatchObject({
      text: "smile 😀 done",
      end: { outcome: "completed" },
    });
  });

  it("turns half a pair into U+FFFD when the other half never comes [AC-81]", () => {
    const body = String.raw`data: "smile \ud83d"` + "\n\n";
    expect(buildTurn(fold(body))).toMatchObject({
      text: "smile \ufffd",
      diagnostics: [{ code: "unpaired_surrogate" }],
    });
  });

  it("counts tokens once, from the Converse events or else from the full message", () => {
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
  ])("finds the whole text in %s, which passes on one carrier only [AC-85]", (file) => {
    expect(turnOfFixture(file)).toMatchObject({
      text: `Let me look that up.It's sunny in Tokyo, they said "25°C".`,
      toolCalls: [],
      end: { outcome: "completed", openToolCallIds: [] },
    });
  });

  it("finds the answer in a result that is the only carrier [AC-76]", () => {
    for (const file of ["py-result-only.sse", "py-result-text.sse"]) {
      expect(turnOfFixture(file)).toMatchObject({
        text: `It's sunny in Tokyo, they said "25°C".`,
        end: { outcome: "completed" },
      });
    }
  });

  it("takes strings that come without quotes as text [AC-85]", () => {
    expect(fold(readFixture("ts-strings.sse"))).toEqual(
      plainTurn(null, "Hello ", "two\nlines", ` and a quote: "x" {'a': 1}`, "こんにちは 😀"),
    );
  });

  it("keeps what an agent inside says out of the text [AC-84]", () => {
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
  ])("tells what the nodes of %s do, and their result as the one text [AC-84]", (file, text) => {
    const events = fold(readFixture(file));
    const firstText = events.findIndex((event) => event.type === "message.start");
    const lastNode = events.findLastIndex(
      (event) => event.type === "activity" && event.kind === "node",
    );
    expect(firstText).toBeGreaterThan(lastNode);
    expect(buildTurn(events)).toMatchObject({ text, end: { outcome: "completed" } });
  });

  it("tells the rest of what an agent does", () => {
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

  it("ends for the reason that the loop gives", () => {
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

  it("says what an agent could not send, and completes the turn all the same", () => {
    const { diagnostics, end } = turnOfFixture("py-not-serialisable.sse");
    expect(diagnostics[0]).toMatchObject({
      code: "content_lost",
      message: 'The agent could not send an event of type "Odd"',
    });
    expect(end?.outcome).toBe("completed");
  });
});

describe("answers that are no stream", () => {
  const json = { contentType: "application/json" };

  it("takes a JSON body as the result [AC-83]", () => {
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

  it("takes text under the content type of JSON as text [AC-83]", () => {
    expect(fold(readFixture("ts-text.txt"), json)).toEqual(plainTurn(null, "just text"));
    expect(fold("just text", { contentType: "text/plain" })).toEqual(plainTurn(null, "just text"));
  });

  it("fails a JSON body that says so [AC-80, AC-83]", () => {
    expect(fold('{"error": "no luck"}', json).at(-1)).toMatchObject({
      outcome: "failed",
      failure: { code: "stream_exception", message: "no luck" },
    });
  });

  it("fails a JSON body that is cut [AC-83]", () => {
    expect(fold('{"result": "Hel', json).at(-1)).toMatchObject({
      outcome: "failed",
      failure: { code: "truncated_stream", details: { pendingBytes: 15 } },
    });
  });

  it("fails a JSON body that is broken, and does not say that it is cut [AC-83]", () => {
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
  ])("takes the plain text %s as it is [AC-83]", (text) => {
    expect(fold(text, { contentType: "text/plain; charset=utf-8" })).toEqual(plainTurn(null, text));
  });

  it("takes plain text that is JSON as a whole for a result [AC-83]", () => {
    const plain = { contentType: "text/plain" };
    expect(fold('{"result": "Hi"}', plain)).toEqual(plainTurn(null, "Hi"));
    expect(fold('"Hi"', plain)).toEqual(plainTurn(null, "Hi"));
  });

  it.each(["[Note] The answer is 42", '"Quoted" at its start', "[1] See the source", "{'a': 1}"])(
    "takes %s as text under the content type of JSON [AC-83]",
    (text) => expect(fold(text, json)).toEqual(plainTurn(null, text)),
  );

  it.each([
    'data: "Hi"\n\n',
    '\r\n: comment\n\ndata: "Hi"\n\n',
    'event: token\ndata: "Hi"\n\n',
    '\u{feff}data: "Hi"\n\n',
  ])("reads an event stream under the content type of JSON: %j [AC-85]", (body) => {
    expect(fold(body, json)).toEqual(plainTurn(null, "Hi"));
    const bytes = encoder.encode(body);
    expect(runCodec(createRuntimeStream(json), splitChunks(bytes, 1))).toEqual(
      plainTurn(null, "Hi"),
    );
  });

  it("takes text that only begins as the name of a field does for text", () => {
    for (const text of ["data", "dat", "e", "events: none", " data: x", "\n".repeat(80) + "Hi"]) {
      expect(fold(text, json)).toEqual(plainTurn(null, text));
      const bytes = encoder.encode(text);
      expect(runCodec(createRuntimeStream(json), splitChunks(bytes, 1))).toEqual(
        plainTurn(null, text),
      );
    }
  });

  it("fails a body beyond its limit, and keeps none of it", () => {
    const { out, state } = runWithState(
      createRuntimeStream({ ...json, maxBodyBytes: 1000 }),
      splitChunks(encoder.encode(JSON.stringify("x".repeat(100_000))), 100),
    );
    expect(out).toMatchObject([{ outcome: "failed", failure: { code: "event_too_large" } }]);
    expect(JSON.stringify(state)).not.toContain("xxxx");
  });

  it("fails an empty body", () => {
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

  it("tells JSON from an event stream by the first byte when there is no content type [AC-85]", () => {
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

  it("fails an answer of another type, and quotes it", () => {
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

describe("any bytes at all", () => {
  // Short pieces of the recordings: a run is quick, and damage lands where it matters.
  const samples = fixtures.flatMap(({ bytes, contentType }) => {
    const text = new TextDecoder().decode(bytes);
    const lines = text.split("\n\n").filter((line) => line.length < 450);
    if (!contentType.startsWith("text/event-stream")) return [{ bytes, contentType }];
    return [0, 3, 6, 9, 12, 18, 24, 30].flatMap((from) => {
      const piece = lines.slice(from, from + 2).join("\n\n");
      return piece === "" ? [] : [{ bytes: encoder.encode(`${piece}\n\n`), contentType }];
    });
  });

  it("never throws, ends once and holds on to little, whatever the bytes are", () => {
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
      if (pendingData.length > 0) throw new Error("What was held back never came out");
      // Each block, slot and message counts for 64 beside its text.
      const pieces = 3 * (converse.blockCount + converse.messageCount) + out.length;
      if (converse.characters > 3 * damaged.length + 64 * pieces) throw new Error("Text piles up");
      ends += 1;
    });
    expect(ends).toBe(runs(count));
  });
});
