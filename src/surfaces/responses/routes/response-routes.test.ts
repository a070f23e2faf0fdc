import { expect, it } from "vitest";
import { encodeSseEvent } from "../../../wire/responses/encode-sse-event.ts";
import type { StreamEvent } from "../../../wire/responses/stream/response-stream-event.ts";
import { createEventTextCache } from "./response-routes.ts";

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

it("An event sent to several readers in a row is encoded once", () => {
  const textOf = createEventTextCache();
  const event = { ...delta("Hello", 4), toJSON: () => ({ written: (times += 1) }) };
  let times = 0;
  expect(textOf(event)).toBe(textOf({ ...event }));
  expect(times).toBe(1);
});

// After retention dropped deltas, the log contains the same text in fewer, longer deltas.
it.each([
  ["text", delta("Hello there", 4)],
  ["number", delta("Hello", 5)],
  ["item", delta("Hello", 4, "msg_ses_2_3")],
])("An event with another %s is encoded again instead of taken from the cache", (_, other) => {
  const textOf = createEventTextCache();
  textOf(delta("Hello", 4));
  expect(textOf(other)).toBe(encodeSseEvent(other));
});
