import { readStreamMessage } from "../framing/eventstream-message.ts";
import { createEventStreamDecoder } from "../framing/eventstream.ts";

export interface HarnessEventRecorder {
  /** Takes the next bytes of an answer. */
  readonly add: (chunk: Uint8Array) => void;
  /** What they say so far, as the AWS SDKs hand it out. */
  readonly events: readonly object[];
}

/** The events of an InvokeHarness answer as they came. What is no event of a stream is left to whoever reads the turn. */
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

/** A service answer has at most 100 MB. */
const MAX_BYTES = 100_000_000;
