import type { Codec } from "../../domain/codec.ts";
import { SpanlineError } from "../../domain/errors.ts";

export interface UnexpectedBodyState {
  readonly bytes: number[];
  total: number;
}

const QUOTED_BYTES = 1024;
const EVENT_STREAM = "application/vnd.amazon.eventstream";

export function isEventStream(contentType: string | null | undefined): boolean {
  return contentType?.split(";", 1)[0]?.trim().toLowerCase() === EVENT_STREAM;
}

/**
 * For an answer that succeeded but is no event stream: a proxy's login page, a JSON error with status 200.
 * Keeps the first part of the body, and at the end says what came instead.
 */
export function unexpectedBody(
  contentType: string | null | undefined,
  wanted = EVENT_STREAM,
): Codec<UnexpectedBodyState, Uint8Array, SpanlineError> {
  return {
    initial: () => ({ bytes: [], total: 0 }),
    step(state, chunk) {
      state.total += chunk.length;
      state.bytes.push(...chunk.subarray(0, QUOTED_BYTES - state.bytes.length));
    },
    finish(state, emit) {
      const found = contentType ?? "no content type";
      const body = new TextDecoder().decode(Uint8Array.from(state.bytes));
      const message = `The answer is ${found}, wanted ${wanted}; it begins: ${body}`;
      const details = { contentType: contentType ?? null, body, bytes: state.total };
      emit(new SpanlineError("unexpected_content_type", message, { details }));
    },
  };
}
