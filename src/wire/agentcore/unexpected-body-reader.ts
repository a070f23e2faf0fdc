import type { Codec } from "../../domain/codec.ts";
import { SpanlineError } from "../../domain/errors.ts";

export interface UnexpectedBodyState {
  readonly bytes: number[];
  totalBytes: number;
}

const MAX_QUOTED_BYTES = 1024;
const EVENT_STREAM_TYPE = "application/vnd.amazon.eventstream";

export function isEventStream(contentType: string | null | undefined): boolean {
  return contentType?.split(";", 1)[0]?.trim().toLowerCase() === EVENT_STREAM_TYPE;
}

/**
 * For an answer that succeeded but is no event stream: a proxy's login page, a JSON error with status 200.
 * Keeps the first part of the body, and at the end says what came instead.
 */
export function createUnexpectedBodyReader(
  contentType: string | null | undefined,
  expected = EVENT_STREAM_TYPE,
): Codec<UnexpectedBodyState, Uint8Array, SpanlineError> {
  return {
    initial: () => ({ bytes: [], totalBytes: 0 }),
    step(state, chunk) {
      state.totalBytes += chunk.length;
      state.bytes.push(...chunk.subarray(0, MAX_QUOTED_BYTES - state.bytes.length));
    },
    finish(state, emit) {
      const actual = contentType ?? "no content type";
      const body = new TextDecoder().decode(Uint8Array.from(state.bytes));
      const message = `The answer is ${actual}, wanted ${expected}; it begins: ${body}`;
      const details = { contentType: contentType ?? null, body, bytes: state.totalBytes };
      emit(new SpanlineError("unexpected_content_type", message, { details }));
    },
  };
}
