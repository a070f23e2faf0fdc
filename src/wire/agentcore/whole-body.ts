import type { Codec } from "../../domain/codec.ts";
import { FrameError } from "../../domain/errors.ts";

export type WholeBodyItem =
  | { readonly type: "body"; readonly text: string; readonly bytes: number }
  | { readonly type: "failure"; readonly error: FrameError };

export interface WholeBodyState {
  readonly chunks: Uint8Array[];
  bytes: number;
}

/** An answer or a file that only makes sense as a whole: kept up to a limit, given out at the end. */
export function wholeBody(maxBytes: number): Codec<WholeBodyState, Uint8Array, WholeBodyItem> {
  return {
    initial: () => ({ chunks: [], bytes: 0 }),
    step(state, chunk, emit) {
      if (state.bytes > maxBytes) return;
      state.bytes += chunk.length;
      if (state.bytes <= maxBytes) return void state.chunks.push(chunk.slice());
      state.chunks.length = 0;
      const message = `The body holds more than ${maxBytes} bytes`;
      emit({ type: "failure", error: new FrameError("event_too_large", message, { offset: 0 }) });
    },
    finish({ chunks, bytes }, emit) {
      if (bytes > 0 && bytes <= maxBytes) emit({ type: "body", text: decoded(chunks), bytes });
    },
  };
}

function decoded(chunks: readonly Uint8Array[]): string {
  const decoder = new TextDecoder();
  return chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join("") + decoder.decode();
}
