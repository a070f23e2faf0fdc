import { sseText } from "../../wire/responses/sse-text.ts";
import type { StreamEvent } from "../../wire/responses/stream/stream-event.ts";

/** Events of responses as texts, where one that many follow at the same pace is written out once. */
export function sharedText(): (event: StreamEvent) => string {
  let last: { readonly event: Delta; readonly text: string } | undefined;
  return (event) => {
    if (!("delta" in event)) return sseText(event);
    if (last !== undefined && isSame(event, last.event)) return last.text;
    const text = sseText(event);
    last = { event, text };
    return text;
  };
}

type Delta = Extract<StreamEvent, { readonly delta: string }>;

/** An item is of one response. Its words are compared too: a log whose pieces were dropped says them under other numbers. */
function isSame(one: Delta, other: Delta): boolean {
  return (
    one.sequence_number === other.sequence_number &&
    one.item_id === other.item_id &&
    one.type === other.type &&
    one.delta === other.delta
  );
}
