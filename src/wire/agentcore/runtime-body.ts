import type { Codec } from "../../domain/codec.ts";
import { FrameError, TruncatedStreamError, type Failure } from "../../domain/errors.ts";
import { parseLenientJson } from "../strands/lenient-json.ts";
import type { StrandsInput } from "../strands/fold.ts";

export interface RuntimeBodyState {
  readonly chunks: Uint8Array[];
  bytes: number;
}

/** An answer in one piece: JSON, or text that the TypeScript app sends under the same content type. */
export function runtimeBody(maxBytes: number): Codec<RuntimeBodyState, Uint8Array, StrandsInput> {
  return {
    initial: () => ({ chunks: [], bytes: 0 }),
    step(state, chunk, emit) {
      if (state.bytes > maxBytes) return;
      state.bytes += chunk.length;
      if (state.bytes <= maxBytes) return void state.chunks.push(chunk.slice());
      state.chunks.length = 0;
      const message = `The answer holds more than ${maxBytes} bytes`;
      emit(failed(new FrameError("event_too_large", message, { offset: 0 }).toFailure()));
    },
    finish(state, emit) {
      if (state.bytes === 0 || state.bytes > maxBytes) return;
      emit(readBody(decoded(state.chunks), state.bytes));
    },
  };
}

function readBody(text: string, bytes: number): StrandsInput {
  const parsed = parseLenientJson(text);
  if (parsed.ok) return { type: "body", value: parsed.value };
  if (!/^\s*["[{]/.test(text)) return { type: "event", event: "", data: text };
  const message = `The answer is not complete JSON: ${parsed.reason}`;
  const place = { offset: 0, pendingBytes: bytes };
  return failed(new TruncatedStreamError(message, place).toFailure());
}

function failed(failure: Failure): StrandsInput {
  return { type: "failure", failure };
}

function decoded(chunks: readonly Uint8Array[]): string {
  const decoder = new TextDecoder();
  return chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join("") + decoder.decode();
}
