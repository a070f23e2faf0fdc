import { describe, expect, it } from "vitest";
import {
  splitChunks,
  fuzz,
  mutateBytes,
  splitRandomly,
  twoWaySplits,
} from "../../../../test/support/bytes/bytes.ts";
import { measureRetainedBytes, measureUsedBytes } from "../../../../test/support/memory-usage.ts";
import { runCodec } from "../../../domain/codec.ts";
import { MAX_JSON_VALUES } from "../../../data/json.ts";
import type { ProviderEvent } from "../../../domain/provider/provider-event.ts";
import { buildTurn } from "../../../domain/provider/turn.ts";
import { createJsonStream, type JsonLayout } from "./json-stream.ts";
import { allowLongTests } from "../../../../test/support/test-depth.ts";

allowLongTests();

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

const converse = [
  { messageStart: { role: "assistant" } },
  { contentBlockDelta: { contentBlockIndex: 0, delta: { text: "Grüße 🌍" } } },
  { contentBlockStop: { contentBlockIndex: 0 } },
  { messageStop: { stopReason: "end_turn" } },
];
const strands = [
  { init_event_loop: true },
  ...converse.map((event) => ({ event })),
  { message: { role: "assistant", content: [{ text: "Grüße 🌍" }] } },
];

/** All layouts in which a list of events is captured. */
function forms(events: readonly object[]): [JsonLayout, string][] {
  const lines = events.map((event) => JSON.stringify(event));
  return [
    ["array", JSON.stringify(events)],
    ["array", JSON.stringify(events, null, 2)],
    ["lines", lines.join("\n")],
    ["lines", `\ufeff${lines.join("\r\n\r\n")}\r\n`],
    ["document", JSON.stringify({ session_id: "x", events })],
    ["document", events.map((event) => JSON.stringify(event, null, 2)).join("\n")],
    ["document", lines.join("")],
  ];
}

function fold(layout: JsonLayout, text: string): ProviderEvent[] {
  return runCodec(createJsonStream(layout), [encode(text)]);
}

describe("A stream captured as JSON", () => {
  it.each([...forms(converse), ...forms(strands)])(
    "Events captured as %s are read, for every split: %s",
    (layout, text) => {
      const events = fold(layout, text);
      expect(buildTurn(events)).toMatchObject({ text: "Grüße 🌍", end: { outcome: "completed" } });
      const bytes = encode(text);
      for (const halves of twoWaySplits(bytes)) {
        expect(runCodec(createJsonStream(layout), halves)).toEqual(events);
      }
      expect(runCodec(createJsonStream(layout), splitChunks(bytes, 1))).toEqual(events);
    },
  );

  it("The first event specific to a dialect selects the dialect", () => {
    const turned = buildTurn(fold("array", JSON.stringify([{ novelty: 1 }, ...converse])));
    expect(turned).toMatchObject({ text: "Grüße 🌍", unknown: [{ name: "novelty" }] });
    expect(buildTurn(fold("array", '[{"runtimeClientError":{"message":"no"}}]')).end).toMatchObject(
      {
        failure: { code: "stream_exception", message: "runtimeClientError: no" },
      },
    );
  });

  it("A document without events is the complete response of an app", () => {
    expect(buildTurn(fold("document", '"Hello"'))).toMatchObject({
      text: "Hello",
      end: { outcome: "completed" },
    });
  });

  it("Input that is not JSON never becomes text of the agent", () => {
    const broken =
      '{"messageStart":{"role":"assistant"}}\n{"contentBlockDelta":\n{"messageStop":{"stopReason":"end_turn"}}';
    for (const text of [broken, broken.replaceAll("messageStart", "event"), "{oops\n{oops"]) {
      const turned = buildTurn(fold("lines", text));
      expect(turned).toMatchObject({ text: "", end: { outcome: "failed" } });
      expect(turned.unknown.map(({ raw }) => raw)).toContain(text.split("\n")[1]);
    }
    expect(buildTurn(fold("document", "[{'messageStart': 1}]")).end).toMatchObject({
      failure: { code: "frame_invalid" },
    });
  });

  it("A value that is not JSON retains only its own text in memory", () => {
    const filler = JSON.stringify({ filler: "x".repeat(5_000_000) });
    const text = `${JSON.stringify(converse[0])}\n{"this is": no JSON at all}\n${filler}`;
    const unreadable = (): unknown[] =>
      buildTurn(fold("document", text)).unknown.filter(({ name }) => name === "");
    const retainedBytes = measureRetainedBytes(() => Array.from({ length: 10 }, unreadable));
    expect(retainedBytes).toBeLessThan(3 * text.length);
  });

  it("A truncated capture fails", () => {
    const whole = JSON.stringify(converse);
    expect(buildTurn(fold("array", whole.slice(0, -5))).end).toMatchObject({
      failure: { code: "truncated_stream" },
    });
    expect(buildTurn(fold("document", "")).end).toMatchObject({ outcome: "failed" });
  });

  it("A capture above its limits fails", () => {
    const bytes = encode(JSON.stringify(converse));
    for (const layout of ["array", "lines", "document"] as const) {
      const codec = createJsonStream(layout, { maxEventBytes: 20, maxDocumentBytes: 20 });
      expect(buildTurn(runCodec(codec, [bytes])).end).toMatchObject({ outcome: "failed" });
    }
  });

  it("The codec reports the end of input after a final failure", () => {
    const cases = [
      ["document", encode('{"a":"long enough to be refused"}')],
      ["array", encode("[1 2]")],
    ] as const;
    for (const [layout, bytes] of cases) {
      const codec = createJsonStream(layout, { maxDocumentBytes: 20 });
      const state = codec.initial();
      codec.step(state, bytes.subarray(0, 2), () => {});
      expect(codec.isOver?.(state)).toBe(false);
      codec.step(state, bytes.subarray(2), () => {});
      expect(codec.isOver?.(state)).toBe(true);
    }
  });

  it.each([
    ["array", `[[${"[],".repeat(MAX_JSON_VALUES)}[]],${JSON.stringify(converse[0])}]`],
    ["lines", `{"a":[${"{},".repeat(MAX_JSON_VALUES)}NaN]}\n${JSON.stringify(converse[0])}`],
    ["document", `{"a":[${"{},".repeat(MAX_JSON_VALUES)}{}]}`],
    ["document", `[${"{},".repeat(MAX_JSON_VALUES)}NaN]`],
  ] as const)("A capture as %s with too many values is refused", (layout, text) => {
    expect(buildTurn(fold(layout, text)).end?.failure).toMatchObject({ code: "event_too_large" });
  });

  it("Values in sequence are processed one at a time, without buffering all of them", () => {
    const count = 500_000;
    const codec = createJsonStream("document");
    const state = codec.initial();
    codec.step(state, encode(`${JSON.stringify(converse[0])}${"{}".repeat(count)}`), () => {});
    const before = measureUsedBytes();
    let seen = 0;
    let retainedBytes = Infinity;
    codec.finish(state, (event) => {
      if (event.type === "unknown" && (seen += 1) === count / 2)
        retainedBytes = measureUsedBytes() - before;
    });
    expect(seen).toBe(count);
    expect(retainedBytes).toBeLessThan(10_000_000);
  });

  it("Each diagnostic has the offset of its event", () => {
    const text = JSON.stringify([converse[0], { novelty: 1 }]);
    expect(buildTurn(fold("array", text)).diagnostics[0]).toMatchObject({
      code: "unknown_event",
      offset: text.indexOf('{"novelty'),
    });
  });

  it.each([
    ["Converse", converse],
    ["Strands", strands],
  ])(
    "A diagnostic from before the dialect was detected has the offset of its event: %s",
    (_, events) => {
      const lines = [
        '{"first":1}',
        "{oops",
        '{"second":1}',
        ...events.map((e) => JSON.stringify(e)),
      ];
      const text = lines.join("\n");
      const diagnostics = buildTurn(fold("lines", text)).diagnostics.map(({ code, offset }) => ({
        code,
        offset,
      }));
      expect(diagnostics.slice(0, 3)).toEqual([
        { code: "unknown_event", offset: 0 },
        { code: "malformed_event", offset: text.indexOf("{oops") },
        { code: "unknown_event", offset: text.indexOf('{"second') },
      ]);
    },
  );

  it("Random bytes never cause a throw and end exactly once", () => {
    const captures = [...forms(converse), ...forms(strands)];
    fuzz(100_000, (random) => {
      const [layout, text] = captures[random(captures.length)] ?? ["array", ""];
      const bytes = mutateBytes(encode(text), random);
      const out = runCodec(
        createJsonStream(layout, { maxEventBytes: 500 }),
        splitRandomly(bytes, random),
      );
      if (out.filter((event) => event.type === "end").length !== 1) throw new Error("not one end");
    });
  });
});
