import { sseText } from "../../wire/responses/sse-text.ts";
import type { StreamEvent } from "../../wire/responses/stream/stream-event.ts";
import type { Asked } from "./ask.ts";

/**
 * Events of responses as texts, where one that many follow at the same pace is written out once. A response is one fold
 * over its log: the same number in it is the same event for everybody.
 */
export function sharedText(): (asked: Asked, event: StreamEvent) => string {
  let last: (Place & { readonly text: string }) | undefined;
  return ({ sessionId, incarnation, seq }, event) => {
    // What says the end is another where the reader is sent away before it.
    if (!event.type.endsWith(".delta")) return sseText(event);
    const place = { sessionId, incarnation, seq, number: event.sequence_number };
    if (last !== undefined && isSame(place, last)) return last.text;
    const text = sseText(event);
    last = { ...place, text };
    return text;
  };
}

interface Place {
  readonly sessionId: string;
  readonly incarnation: string;
  readonly seq: number;
  readonly number: number;
}

function isSame(one: Place, other: Place): boolean {
  return (
    one.number === other.number &&
    one.seq === other.seq &&
    one.sessionId === other.sessionId &&
    one.incarnation === other.incarnation
  );
}
