import { describe, expect, it } from "vitest";
import {
  completed,
  ended,
  foldLines,
  plainTurn,
  saidText,
  started,
  textMessage,
} from "../../../test/fixtures/strands/fixtures.ts";
import { runWithState } from "../../../test/support/bytes/bytes.ts";
import type { ProviderEvent } from "../../domain/provider/provider-event.ts";
import { createStrandsFold } from "./fold.ts";

/** The events emitted for an unknown object. */
function createUnknownEvents(name: string, raw: unknown): ProviderEvent[] {
  const message = `Unknown event "${name}" is kept as it came`;
  return [
    { type: "unknown", what: "event", name, raw },
    { type: "diagnostic", diagnostic: { code: "unknown_event", message } },
  ];
}

describe("An app that sends strings without quotes", () => {
  it.each([
    [["See source", "[1]", " for more"]],
    [["Use ", "{}", " or ", "[]", "."]],
    [["{}", " is an empty object"]],
    [["[1]", "{}", "null", "42", " begin it"]],
    [["It is ", "null", " or ", "true"]],
  ])(
    "Strings that are valid JSON are text if the app sends strings without quotes: %j [AC-85]",
    (lines) => {
      expect(foldLines(lines)).toEqual(plainTurn(null, ...lines));
    },
  );

  it("A tool announced in JSON is an activity, also between raw strings [AC-85]", () => {
    const announced = { type: "tool_use", tool_name: "look" };
    expect(foldLines(["See ", JSON.stringify(announced), "[1]"])).toEqual([
      started(0),
      { type: "text.delta", message: 0, block: 0, text: "See " },
      { type: "activity", kind: "tool-call-opened", label: "🔧 look" },
      { type: "text.delta", message: 0, block: 0, text: "[1]" },
      { type: "text.end", message: 0, block: 0, text: "See [1]" },
      ended(0, null),
      completed(null),
    ]);
  });

  it.each([
    ['{"type":"tool_use","tool_name":"look"}', ["[", "Note", "] ", '"', "{"]],
    ['{"type":"tool_use","tool_name":"look"}', ['"', "quoted", '"']],
  ])("After %s, raw text may start with a bracket or a quote [AC-85]", (first, lines) => {
    expect(foldLines([first, ...lines])).toEqual([
      { type: "activity", kind: "tool-call-opened", label: "🔧 look" },
      ...plainTurn(null, ...lines),
    ]);
  });

  it("The first lines are text once a later line shows that the app sends raw strings", () => {
    expect(foldLines(["[1]", "[", "1", "]"])).toEqual(plainTurn(null, "[1]", "[", "1", "]"));
  });

  it("JSON events of the app are kept apart from its raw text", () => {
    expect(foldLines(['{"status":"busy"}', "Hi", '{"status":"done"}', "!"])).toEqual([
      ...createUnknownEvents("status", { status: "busy" }),
      ...plainTurn(null, "Hi", "!").flatMap((event) =>
        event.type === "text.delta" && event.text === "!"
          ? [...createUnknownEvents("status", { status: "done" }), event]
          : [event],
      ),
    ]);
  });

  it("The end marker [DONE] of other streams is ignored", () => {
    expect(foldLines(["Hi", "[DONE]"])).toEqual(plainTurn(null, "Hi"));
    expect(foldLines(['"Hi"', "[DONE]"])).toEqual(plainTurn(null, "Hi"));
  });
});

describe("An app that sends JSON", () => {
  const lines = ["[1]", "{}", "null"];
  const unknown = [
    ...createUnknownEvents("object", [1]),
    ...createUnknownEvents("", {}),
    ...createUnknownEvents("null", null),
  ];

  it("Unknown values before a string are kept in order [AC-34]", () => {
    expect(foldLines([...lines, '"Hi"'])).toEqual([...unknown, ...plainTurn(null, "Hi")]);
  });

  it("Unknown values before an event are kept in order [AC-34]", () => {
    const events = textMessage("Hi").map((value) => JSON.stringify(value));
    expect(foldLines([...lines, ...events])).toEqual([...unknown, ...plainTurn("end_turn", "Hi")]);
  });

  it("A number after an unknown value is text", () => {
    expect(foldLines(["{}", "42", '" of them"'])).toEqual([
      ...createUnknownEvents("", {}),
      ...plainTurn(null, "42", " of them"),
    ]);
  });

  it("Unknown values at the end of an undecided stream are kept [AC-34]", () => {
    expect(foldLines(lines).slice(0, -1)).toEqual(unknown);
  });

  it("Pending data is limited", () => {
    const many = Array.from({ length: 100 }, (_, index) => ({
      type: "event" as const,
      event: "",
      data: `{"step":${index}}`,
    }));
    const { out, state } = runWithState(createStrandsFold(), many);
    expect(state.pendingData).toEqual([]);
    expect(out.flatMap((event) => (event.type === "unknown" ? [event.raw] : []))).toEqual(
      many.map((_, step) => ({ step })),
    );
    const fold = createStrandsFold();
    const halfWay = fold.initial();
    for (const input of many) fold.step(halfWay, input, () => undefined);
    expect(halfWay.pendingData.length).toBeLessThan(33);
    const large = { type: "event" as const, event: "", data: JSON.stringify(["x".repeat(70_000)]) };
    const seen: string[] = [];
    fold.step(fold.initial(), large, (event) => seen.push(event.type));
    expect(seen).toEqual(["unknown", "diagnostic"]);
  });

  it("A diagnostic about a delayed line has the offset of this line", () => {
    const fold = createStrandsFold();
    const state = fold.initial();
    const out: ProviderEvent[] = [];
    const emit = (event: ProviderEvent): void => void out.push(event);
    fold.step(state, { type: "event", event: "", data: "{}", offset: 7 }, emit);
    fold.step(state, { type: "event", event: "", data: '"Hi"', offset: 20 }, emit);
    expect(out[1]).toMatchObject({ diagnostic: { code: "unknown_event", offset: 7 } });
  });

  it("A broken line is not text, after strings and after events", () => {
    for (const first of ['"Hi"', '{"init_event_loop":true}']) {
      expect(foldLines([first, '{"event":{"contentBlockDelta":'])).toContainEqual({
        type: "unknown",
        what: "event",
        name: "data",
        raw: '{"event":{"contentBlockDelta":',
      });
    }
    expect(foldLines(['"Hi"', "[1, 2"])).toContainEqual(
      expect.objectContaining({ type: "unknown", raw: "[1, 2" }),
    );
  });
});

describe("Known keys next to content", () => {
  const answerTurn = plainTurn(null, "The answer");

  it.each([
    { result: "The answer", structured_output: null },
    { data: "The answer", start: true },
    { data: "The answer", start_event_loop: true, event_loop_throttled_delay: null },
    { message: { role: "assistant", content: [{ text: "The answer" }] }, init_event_loop: true },
  ])("Content next to a known key is read: %j", (value) => {
    expect(foldLines([JSON.stringify(value)])).toEqual(answerTurn);
  });

  it("A known key with a value is reported next to content", () => {
    const value = { result: "The answer", structured_output: { answer: 42 } };
    expect(foldLines([JSON.stringify(value)])).toEqual([
      { type: "activity", kind: "structured-result", raw: { answer: 42 } },
      ...answerTurn,
    ]);
  });

  it("A known key is reported if the content is unreadable", () => {
    const value = { message: "done", structured_output: { answer: 42 } };
    expect(foldLines([JSON.stringify(value)]).slice(0, -1)).toEqual([
      { type: "activity", kind: "structured-result", raw: { answer: 42 } },
    ]);
  });

  it("A known key with null and no content is kept as unknown", () => {
    expect(foldLines(['{"structured_output":null}', '"Hi"'])).toEqual([
      ...createUnknownEvents("structured_output", { structured_output: null }),
      started(0),
      ...saidText({ message: 0, block: 0 }, "Hi"),
      ended(0, null),
      completed(null),
    ]);
  });
});

describe("An app that forwards its agent's events", () => {
  it.each(["Hi", "Hi\n"])("The result repeated as text is ignored: %j [AC-74]", (result) => {
    const events = [
      ...textMessage("Hi"),
      { message: { role: "assistant", content: [{ text: "Hi" }] } },
    ];
    const lines = events.map((value) => JSON.stringify(value));
    expect(foldLines([...lines, JSON.stringify(result)])).toEqual(foldLines(lines));
  });
});
