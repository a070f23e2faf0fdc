import { encodeSseEvent } from "../../../wire/responses/encode-sse-event.ts";
import type { StreamEvent } from "../../../wire/responses/stream/response-stream-event.ts";

/** Encodes response events and caches the last delta, so readers at the same position share one encoding. */
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

/**
 * An item id belongs to one response. The text is compared too: after retention dropped deltas, the same number may
 * carry another text.
 */
function isSameDelta(left: DeltaEvent, right: DeltaEvent): boolean {
  return (
    left.sequence_number === right.sequence_number &&
    left.item_id === right.item_id &&
    left.type === right.type &&
    left.delta === right.delta
  );
}
