import type { Codec } from "../../domain/codec.ts";
import { SpanlineError, FrameError } from "../../domain/errors.ts";
import type { ProviderEvent } from "../../domain/provider/provider-event.ts";
import {
  appendPending,
  clearPending,
  createPendingBytes,
  peekPending,
  type PendingBytes,
} from "../framing/byte-input.ts";

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
 * Reads a successful response which is not an event stream, such as the login page of a proxy or a JSON error with
 * status
 * 200. Keeps the first 1,024 bytes and emits an error with the quote at the end.
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
      const actual =
        contentType === null || contentType === undefined
          ? "no content type"
          : `the content type ${contentType}`;
      const body = new TextDecoder().decode(Uint8Array.from(state.bytes));
      const message = `The response has ${actual}: expected ${expected}. The body starts with: ${body}`;
      const details = { contentType: contentType ?? null, body, bytes: state.totalBytes };
      emit(new SpanlineError("unexpected_content_type", message, { details }));
    },
  };
}

/** Adds the position in the stream to a diagnostic without a position. */
export function addDiagnosticOffset(event: ProviderEvent, offset: number): ProviderEvent {
  if (event.type !== "diagnostic" || event.diagnostic.offset !== undefined) return event;
  return { type: "diagnostic", diagnostic: { ...event.diagnostic, offset } };
}

export type WholeBodyItem =
  | { readonly type: "body"; readonly text: string; readonly bytes: number }
  | { readonly type: "failure"; readonly error: FrameError };

interface WholeBodyState {
  readonly body: PendingBytes;
  isTooLarge: boolean;
}

/** Buffers a body of up to `maxBytes` and emits the text at the end, for formats which cannot be read incrementally. */
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
      const message = `The body has more than ${maxBytes} bytes`;
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
