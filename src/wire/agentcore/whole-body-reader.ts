import type { Codec } from "../../domain/codec.ts";
import { FrameError } from "../../domain/errors.ts";
import {
  appendPending,
  clearPending,
  createPendingBytes,
  peekPending,
  type PendingBytes,
} from "../framing/pending-bytes.ts";

export type WholeBodyItem =
  | { readonly type: "body"; readonly text: string; readonly bytes: number }
  | { readonly type: "failure"; readonly error: FrameError };

export interface WholeBodyState {
  readonly body: PendingBytes;
  isTooLarge: boolean;
}

/** An answer or a file that only makes sense as a whole: kept up to a limit, given out at the end. */
export function createWholeBodyReader(
  maxBytes: number,
): Codec<WholeBodyState, Uint8Array, WholeBodyItem> {
  return {
    initial: () => ({ body: createPendingBytes(), isTooLarge: false }),
    step(state, chunk, emit) {
      const { body } = state;
      if (state.isTooLarge) return;
      if (body.length + chunk.length <= maxBytes) return appendPending(body, chunk, maxBytes);
      state.isTooLarge = true;
      clearPending(body);
      const message = `The body holds more than ${maxBytes} bytes`;
      emit({ type: "failure", error: new FrameError("event_too_large", message, { offset: 0 }) });
    },
    finish({ body, isTooLarge }, emit) {
      if (isTooLarge || body.length === 0) return;
      const text = new TextDecoder().decode(peekPending(body));
      emit({ type: "body", text, bytes: body.length });
    },
    isOver: ({ isTooLarge }) => isTooLarge,
  };
}
