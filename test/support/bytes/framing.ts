import { expect } from "vitest";
import { runCodec, type Codec } from "../../../src/domain/codec.ts";
import type { FrameError } from "../../../src/domain/errors.ts";
import { splitChunks, twoWaySplits } from "./bytes.ts";

/** What every framing gives: items, or what is wrong with the bytes. */
type Item = { readonly type: string; readonly error?: FrameError };

/** The items of a stream, its failures as plain values. */
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

/** Chunks that turn into rubbish after their step, as the buffers of a caller who reuses them do. */
function* overwriteAfterStep(chunks: Iterable<Uint8Array>): Generator<Uint8Array> {
  for (const chunk of chunks) {
    const copy = chunk.slice();
    yield copy;
    copy.fill(0xaa);
  }
}

/** The items of a stream, after checking that they are the same however it is cut. */
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

/** The items as one text; `check` looks at the state after every step. */
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
