import { describe, expect, it } from "vitest";
import { violationsIn, type Rule, type StreamEventLike } from "./stream-checker.ts";

/** A valid stream: reasoning, a tool call with its output, a message. */
function goodStream(): StreamEventLike[] {
  const reasoning = {
    id: "rs",
    type: "reasoning",
    summary: [{ type: "summary_text", text: "Hm." }],
  };
  const call = { id: "fc", type: "function_call", call_id: "c", name: "f", arguments: "{}" };
  const output = { id: "fco", type: "function_call_output", call_id: "c", output: "1" };
  const content = [{ type: "output_text", text: "Hi", annotations: [] }];
  const message = { id: "msg", type: "message", role: "assistant", content };
  const inThought = { item_id: "rs", output_index: 0, summary_index: 0 };
  const inCall = { item_id: "fc", output_index: 1 };
  const inText = { item_id: "msg", output_index: 3, content_index: 0 };
  const pieces: Omit<StreamEventLike, "sequence_number">[] = [
    { type: "response.created", response: { id: "r", output: [] } },
    { type: "response.in_progress", response: { id: "r", output: [] } },
    { type: "response.output_item.added", output_index: 0, item: { ...reasoning, summary: [] } },
    { type: "response.reasoning_summary_part.added", ...inThought, part: {} },
    { type: "response.reasoning_summary_text.delta", ...inThought, delta: "Hm." },
    { type: "response.reasoning_summary_text.done", ...inThought, text: "Hm." },
    { type: "response.reasoning_summary_part.done", ...inThought, part: { text: "Hm." } },
    { type: "response.output_item.done", output_index: 0, item: reasoning },
    { type: "response.output_item.added", output_index: 1, item: { ...call, arguments: "" } },
    { type: "response.function_call_arguments.delta", ...inCall, delta: "{}" },
    { type: "response.function_call_arguments.done", ...inCall, arguments: "{}" },
    { type: "response.output_item.done", output_index: 1, item: call },
    { type: "response.output_item.added", output_index: 2, item: output },
    { type: "response.output_item.done", output_index: 2, item: output },
    { type: "response.output_item.added", output_index: 3, item: { ...message, content: [] } },
    { type: "response.content_part.added", ...inText, part: { text: "" } },
    { type: "response.output_text.delta", ...inText, delta: "H" },
    { type: "response.output_text.delta", ...inText, delta: "i" },
    { type: "response.output_text.done", ...inText, text: "Hi" },
    { type: "response.content_part.done", ...inText, part: { text: "Hi" } },
    { type: "response.output_item.done", output_index: 3, item: message },
    {
      type: "response.completed",
      response: { id: "r", output: [reasoning, call, output, message] },
    },
  ];
  return numbered(pieces as StreamEventLike[]);
}

function numbered(events: readonly StreamEventLike[]): StreamEventLike[] {
  return events.map((event, index) => ({ ...event, sequence_number: index }));
}

function without(...types: readonly string[]): StreamEventLike[] {
  return numbered(goodStream().filter(({ type }) => !types.includes(type)));
}

function changed(type: string, fields: object): StreamEventLike[] {
  let isDone = false;
  return goodStream().map((event) => {
    if (event.type !== type || isDone) return event;
    isDone = true;
    return { ...event, ...fields };
  });
}

function rulesBrokenBy(events: readonly StreamEventLike[]): readonly Rule[] {
  return [...new Set(violationsIn(events).map(({ rule }) => rule))];
}

const GOOD = goodStream();
const LAST = GOOD.length - 1;

describe("The stream checker", () => {
  it("A valid stream has no violations", () => {
    expect(violationsIn(GOOD)).toEqual([]);
  });

  it.each<[Rule, string, StreamEventLike[]]>([
    [
      "NON_MONOTONIC_SEQUENCE",
      "a number twice",
      changed("response.in_progress", { sequence_number: 0 }),
    ],
    ["SEQUENCE_GAP", "a number left out", changed("response.completed", { sequence_number: 99 })],
    ["CREATED_NOT_FIRST", "no first event", without("response.created")],
    ["IN_PROGRESS_NOT_SECOND", "no second event", without("response.in_progress")],
    ["INVALID_RESPONSE_TRANSITION", "an end without a run", without("response.in_progress")],
    [
      "INVALID_RESPONSE_TRANSITION",
      "an event after the end",
      numbered([...GOOD, ...GOOD.slice(-1)]),
    ],
    ["RESPONSE_NOT_TERMINATED", "no end", GOOD.slice(0, LAST)],
    [
      "RESPONSE_ID_CHANGED",
      "another response",
      changed("response.completed", { response: { id: "q" } }),
    ],
    [
      "OUTPUT_DIFFERS",
      "an output without items",
      changed("response.completed", { response: { id: "r", output: [] } }),
    ],
    ["UNKNOWN_ITEM", "an item that was not announced", without("response.output_item.added")],
    [
      "DUPLICATE_ITEM",
      "an id twice",
      changed("response.output_item.added", { item: { id: "fc" } }),
    ],
    [
      "OUTPUT_INDEX_GAP",
      "an index left out",
      changed("response.output_item.added", { output_index: 1 }),
    ],
    ["ITEM_NOT_TERMINATED", "an item without an end", without("response.output_item.done")],
    [
      "ITEM_ALREADY_DONE",
      "an item that continues after its end",
      numbered([...GOOD.slice(0, LAST), ...GOOD.slice(16, 17), ...GOOD.slice(LAST)]),
    ],
    [
      "ITEM_ID_CHANGED",
      "another id in a delta",
      changed("response.output_text.delta", { item_id: "other" }),
    ],
    [
      "UNKNOWN_CONTENT_PART",
      "a part that was not announced",
      without("response.content_part.added"),
    ],
    [
      "DUPLICATE_CONTENT_PART",
      "a part twice",
      numbered(
        GOOD.flatMap((event) =>
          event.type === "response.content_part.added" ? [event, event] : [event],
        ),
      ),
    ],
    [
      "PART_INDEX_GAP",
      "a part's index left out",
      changed("response.content_part.added", { content_index: 1 }),
    ],
    [
      "INVALID_CONTENT_PART_TRANSITION",
      "a part that ends before its text",
      without("response.output_text.done"),
    ],
    ["CONTENT_PART_NOT_TERMINATED", "a part without an end", without("response.content_part.done")],
    [
      "TEXT_DIFFERS",
      "another text than the deltas",
      changed("response.output_text.done", { text: "Ho" }),
    ],
    ["NO_DELTA", "a text without deltas", without("response.output_text.delta")],
    ["NO_DELTA", "arguments without deltas", without("response.function_call_arguments.delta")],
    [
      "ARGUMENTS_DIFFER",
      "other arguments than the deltas",
      changed("response.function_call_arguments.done", { arguments: "{ }" }),
    ],
    [
      "UNMATCHED_OUTPUT",
      "an output of no call",
      GOOD.map((event) =>
        JSON.parse(
          JSON.stringify(event).replaceAll('"call_id":"c","output"', '"call_id":"d","output"'),
        ),
      ),
    ],
    [
      "ERROR_WITHOUT_FAILED",
      "an error that fails nothing",
      numbered([...GOOD.slice(0, LAST), { type: "error" }, ...GOOD.slice(LAST)]),
    ],
    [
      "UNKNOWN_EVENT",
      "an event outside the specification",
      numbered([...GOOD.slice(0, LAST), { type: "response.keep_alive" }, ...GOOD.slice(LAST)]),
    ],
  ])("The stream checker reports %s for %s", (rule, _, events) => {
    expect(rulesBrokenBy(events)).toContain(rule);
  });
});
