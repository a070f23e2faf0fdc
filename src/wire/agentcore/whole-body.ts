import type { Codec } from "../../domain/codec.ts";
import { FrameError } from "../../domain/errors.ts";

export type WholeBodyItem =
  | { readonly type: "body"; readonly text: string; readonly bytes: number }
  | { readonly type: "failure"; readonly error: FrameError };

export interface WholeBodyState {
  /** Its first `bytes` bytes count; it doubles when it is full. */
  buffer: Uint8Array;
  bytes: number;
}

/** An answer or a file that only makes sense as a whole: kept up to a limit, given out at the end. */
export function wholeBody(maxBytes: number): Codec<WholeBodyState, Uint8Array, WholeBodyItem> {
  return {
    initial: () => ({ buffer: new Uint8Array(0), bytes: 0 }),
    step(state, chunk, emit) {
      if (state.bytes > maxBytes) return;
      if (state.bytes + chunk.length <= maxBytes) return keep(state, chunk);
      state.bytes = maxBytes + 1;
      state.buffer = new Uint8Array(0);
      const message = `The body holds more than ${maxBytes} bytes`;
      emit({ type: "failure", error: new FrameError("event_too_large", message, { offset: 0 }) });
    },
    finish({ buffer, bytes }, emit) {
      if (bytes === 0 || bytes > maxBytes) return;
      emit({ type: "body", text: new TextDecoder().decode(buffer.subarray(0, bytes)), bytes });
    },
  };
}

function keep(state: WholeBodyState, chunk: Uint8Array): void {
  const length = state.bytes + chunk.length;
  if (length > state.buffer.length) {
    const grown = new Uint8Array(Math.max(length, 2 * state.buffer.length));
    grown.set(state.buffer.subarray(0, state.bytes));
    state.buffer = grown;
  }
  state.buffer.set(chunk, state.bytes);
  state.bytes = length;
}
