import { expect } from "vitest";
import { runCodec, type Codec } from "../../../src/domain/codec.ts";
import type { FrameError } from "../../../src/domain/errors.ts";
import { splitChunks, twoWaySplits } from "./bytes.ts";

/** An output of a framing codec: an item or an error. */
type Item = { readonly type: string; readonly error?: FrameError };

/** Decodes a stream. Errors are converted to plain values. */
export function decode<State, Out extends Item>(
  codec: Codec<State, Uint8Array, Out>,
  chunks: Iterable<Uint8Array>,
): unknown[] {
  return runCodec(codec, overwriteAfterStep(chunks)).map(toPlain);
}

export function toPlain(item: Item): unknown {
  const { error } = item;
  return error === undefined ? item : { type: "failure", code: error.code, ...error.details };
}

/** Overwrites each chunk after its step, like a caller that reuses its buffers. */
function* overwriteAfterStep(chunks: Iterable<Uint8Array>): Generator<Uint8Array> {
  for (const chunk of chunks) {
    const copy = chunk.slice();
    yield copy;
    copy.fill(0xaa);
  }
}

/** Decodes a stream and checks for equal items with every split. */
export function decodeAllWays<State, Out extends Item>(
  codec: Codec<State, Uint8Array, Out>,
  stream: string | Uint8Array,
): unknown[] {
  const bytes = typeof stream === "string" ? new TextEncoder().encode(stream) : stream;
  const items = decode(codec, [bytes]);
  for (const halves of twoWaySplits(bytes)) expect(decode(codec, halves)).toEqual(items);
  for (const size of [1, 3]) expect(decode(codec, splitChunks(bytes, size))).toEqual(items);
  return items;
}

/** Decodes a stream to a single string. `check` is called with the state after every step. */
export function decodeChecked<State, Out extends Item>(
  codec: Codec<State, Uint8Array, Out>,
  chunks: readonly Uint8Array[],
  check: (state: State) => void,
): string {
  const state = codec.initial();
  let items = "";
  const emit = (item: Out): void => {
    items += `${JSON.stringify(item.error === undefined ? item : item.error.toFailure())}\n`;
  };
  for (const chunk of chunks) {
    codec.step(state, chunk, emit);
    check(state);
  }
  codec.finish(state, emit);
  return items;
}
