import { readStreamMessage } from "../framing/eventstream-message.ts";
import { createEventStreamDecoder } from "../framing/eventstream.ts";

export interface HarnessEventRecorder {
  /** Adds the next bytes of a response. */
  readonly add: (chunk: Uint8Array) => void;
  /** The decoded events so far, in the form of the AWS SDKs. */
  readonly events: readonly object[];
}

/**
 * Records the events of an InvokeHarness response. Other content is ignored; the turn's own decoder reports problems.
 */
export function createHarnessEventRecorder(): HarnessEventRecorder {
  const decoder = createEventStreamDecoder();
  const state = decoder.initial();
  const events: object[] = [];
  let bytes = 0;
  return {
    events,
    add(chunk) {
      bytes += chunk.length;
      if (bytes > MAX_BYTES) return;
      decoder.step(state, chunk, (item) => {
        if (item.type !== "frame") return;
        const message = readStreamMessage(item);
        if (message.type !== "event" && message.type !== "exception") return;
        // Not an object literal: a name `__proto__` is data.
        events.push(Object.fromEntries([[message.name, message.payload]]));
      });
    },
  };
}

/** Bytes. A response of the service has at most 100 MB. */
const MAX_BYTES = 100_000_000;
