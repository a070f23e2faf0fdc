import { BoundedCache } from "../../data/bounded-cache.ts";
import { toJsonText } from "../../data/json.ts";
import type { Envelope } from "../../domain/events/envelope.ts";
import { formatCursor } from "./cursor-text.ts";
import type { EventsFrame, LiveFrame } from "./live-frames.ts";

/** Encodes every frame except `events`, which `LiveEventEncoder` encodes. */
export function encodeLiveFrame(frame: Exclude<LiveFrame, EventsFrame>): string {
  return toJsonText(frame);
}

/** Consecutive events of a log. */
export interface EventRun {
  readonly incarnation: string;
  readonly events: readonly Envelope[];
}

/** An encoded `events` frame. */
export interface EncodedEvents {
  readonly text: string;
  /** The position of the last event in the frame. */
  readonly seq: number;
}

/** Characters of the events in a frame. A longer event has a frame of its own. */
const MAX_FRAME_LENGTH = 128 * 1024;
const MAX_CACHED_LENGTH = 2_000_000;
/** Estimated memory of a cached event in addition to its text, in characters. */
const EVENT_OVERHEAD = 300;

/** Encodes the events of sessions. The JSON of an event is created once for all readers at about the same position. */
export class LiveEventEncoder {
  readonly #texts = new BoundedCache<string>(MAX_CACHED_LENGTH);
  /** The last event. Readers at the same position request the same event one after another. */
  #last: { readonly envelope: Envelope; readonly text: string } | undefined;

  /** Encodes a run of events in frames of bounded length. Internal events are omitted. */
  *encode(id: string, { incarnation, events }: EventRun): Generator<EncodedEvents> {
    let texts: string[] = [];
    let length = 0;
    let seq = 0;
    const finish = (): EncodedEvents => {
      const head = { type: "events", id, cursor: formatCursor({ incarnation, seq }) };
      const text = `${JSON.stringify(head).slice(0, -1)},"events":[${texts.join(",")}]}`;
      texts = [];
      length = 0;
      return { text, seq };
    };
    for (const envelope of events) {
      if (envelope.visibility === "internal") continue;
      const text = this.#encodeEvent(incarnation, envelope);
      if (texts.length > 0 && length + text.length > MAX_FRAME_LENGTH) yield finish();
      texts.push(text);
      length += text.length;
      seq = envelope.seq;
    }
    if (texts.length > 0) yield finish();
  }

  #encodeEvent(incarnation: string, envelope: Envelope): string {
    if (this.#last?.envelope === envelope) return this.#last.text;
    const key = formatCursor({ incarnation, seq: envelope.seq });
    let text = this.#texts.get(key);
    if (text === undefined) {
      text = toJsonText(envelope);
      this.#texts.set(key, text, text.length + EVENT_OVERHEAD);
    }
    this.#last = { envelope, text };
    return text;
  }
}
