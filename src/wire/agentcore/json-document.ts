import type { Codec } from "../../domain/codec.ts";
import { FrameError, TruncatedStreamError } from "../../domain/errors.ts";
import { isObject, parseJson } from "../../domain/json.ts";

export type JsonDocumentItem =
  | { readonly type: "element"; readonly text: string; readonly offset: number }
  | { readonly type: "failure"; readonly error: FrameError };

export interface JsonDocumentState {
  readonly chunks: Uint8Array[];
  bytes: number;
}

const MAX_DOCUMENT_BYTES = 256 * 1024 * 1024;

/** One JSON document: either a single event, or an object that keeps a list of them under `events`. */
export function jsonDocumentDecoder(
  maxBytes = MAX_DOCUMENT_BYTES,
): Codec<JsonDocumentState, Uint8Array, JsonDocumentItem> {
  return {
    initial: () => ({ chunks: [], bytes: 0 }),
    step(state, chunk, emit) {
      if (state.bytes > maxBytes) return;
      state.bytes += chunk.length;
      if (state.bytes <= maxBytes) return void state.chunks.push(chunk.slice());
      state.chunks.length = 0;
      const message = `The document holds more than ${maxBytes} bytes`;
      emit({ type: "failure", error: new FrameError("event_too_large", message, { offset: 0 }) });
    },
    finish(state, emit) {
      if (state.bytes === 0 || state.bytes > maxBytes) return;
      const text = decoded(state.chunks);
      const parsed = parseJson(text);
      if (!parsed.ok) {
        const message = `The document is not complete JSON: ${parsed.reason}`;
        const place = { offset: 0, pendingBytes: state.bytes };
        return emit({ type: "failure", error: new TruncatedStreamError(message, place) });
      }
      for (const event of eventsOf(parsed.value)) {
        emit({ type: "element", text: JSON.stringify(event), offset: 0 });
      }
    },
  };
}

function decoded(chunks: readonly Uint8Array[]): string {
  const decoder = new TextDecoder();
  return chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join("") + decoder.decode();
}

function eventsOf(document: unknown): readonly unknown[] {
  const events = isObject(document) ? document["events"] : undefined;
  return Array.isArray(events) ? events : [document];
}
