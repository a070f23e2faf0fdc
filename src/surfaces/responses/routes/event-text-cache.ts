import { encodeSseEvent } from "../../../wire/responses/encode-sse-event.ts";
import type { StreamEvent } from "../../../wire/responses/stream/response-stream-event.ts";

/** Events of responses as texts, where one that many follow at the same pace is written out once. */
export function createEventTextCache(): (event: StreamEvent) => string {
  let last: { readonly event: DeltaEvent; readonly text: string } | undefined;
  return (event) => {
    if (!("delta" in event)) return encodeSseEvent(event);
    if (last !== undefined && isSameDelta(event, last.event)) return last.text;
    const text = encodeSseEvent(event);
    last = { event, text };
    return text;
  };
}

type DeltaEvent = Extract<StreamEvent, { readonly delta: string }>;

/** An item is of one response. Its words are compared too: a log whose pieces were dropped says them under other numbers. */
function isSameDelta(left: DeltaEvent, right: DeltaEvent): boolean {
  return (
    left.sequence_number === right.sequence_number &&
    left.item_id === right.item_id &&
    left.type === right.type &&
    left.delta === right.delta
  );
}
