import { expect, it } from "vitest";
import { encodeSseEvent } from "../../../wire/responses/encode-sse-event.ts";
import type { StreamEvent } from "../../../wire/responses/stream/response-stream-event.ts";
import { createEventTextCache } from "./event-text-cache.ts";

function delta(words: string, number: number, item = "msg_ses_1_3"): StreamEvent {
  return {
    type: "response.output_text.delta",
    sequence_number: number,
    item_id: item,
    output_index: 0,
    content_index: 0,
    delta: words,
    logprobs: [],
  };
}

it("writes an event out once for all who are sent it in turn", () => {
  const textOf = createEventTextCache();
  const event = { ...delta("Hello", 4), toJSON: () => ({ written: (times += 1) }) };
  let times = 0;
  expect(textOf(event)).toBe(textOf({ ...event }));
  expect(times).toBe(1);
});

// A log whose pieces were dropped says in one what it said in several before.
it.each([
  ["words", delta("Hello there", 4)],
  ["number", delta("Hello", 5)],
  ["item", delta("Hello", 4, "msg_ses_2_3")],
])("gives nobody the text of an event with another %s", (_, other) => {
  const textOf = createEventTextCache();
  textOf(delta("Hello", 4));
  expect(textOf(other)).toBe(encodeSseEvent(other));
});
