import type { Codec } from "../../../src/domain/codec.ts";
import { runs } from "../test-depth.ts";

export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}

/** Splits bytes into chunks of the given size; the last chunk may be shorter. */
export function splitChunks(bytes: Uint8Array, size: number): Uint8Array[] {
  const count = Math.ceil(bytes.length / size);
  return Array.from({ length: count }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  );
}

/** All ways to split bytes in two. */
export function* twoWaySplits(bytes: Uint8Array): Generator<readonly [Uint8Array, Uint8Array]> {
  for (let at = 0; at <= bytes.length; at++) yield [bytes.subarray(0, at), bytes.subarray(at)];
}

/** A small seeded generator (mulberry32): fuzz runs can be repeated from their seed alone. */
export function createRandom(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** A damaged copy: bytes flipped, removed, repeated or cut off. */
export function mutateBytes(bytes: Uint8Array, random: (below: number) => number): Uint8Array {
  let copy: Uint8Array = bytes.slice();
  for (let times = random(4); times >= 0 && copy.length > 0; times--) {
    const at = random(copy.length);
    const length = 1 + random(8);
    switch (random(5)) {
      case 0:
        copy[at] = random(256);
        break;
      case 1:
        copy[at] = (copy[at] ?? 0) ^ (1 << random(8));
        break;
      case 2:
        copy = concat(copy.subarray(0, at), copy.subarray(at + length));
        break;
      case 3:
        copy = concat(copy.subarray(0, at + length), copy.subarray(at));
        break;
      default:
        copy = copy.subarray(0, at);
    }
  }
  return copy;
}

/** Random chunks, some of them empty. */
export function splitRandomly(bytes: Uint8Array, random: (below: number) => number): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < bytes.length;) {
    const size = random(4) === 0 ? random(3) : random(bytes.length + 1);
    chunks.push(bytes.subarray(at, at + size));
    at += size;
  }
  return chunks;
}

/**
 * Runs `check` many times, less often in the fast lane. A failure names its seed. Stack traces are disabled, because
 * most runs create an error and collecting its stack would take most of the time.
 */
export function fuzz(
  count: number,
  check: (random: (below: number) => number) => void,
  firstSeed = 1,
): void {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  const lastSeed = firstSeed + runs(count);
  let seed = firstSeed;
  try {
    for (; seed < lastSeed; seed++) check(createRandom(seed));
  } catch (cause) {
    throw new Error(`Fuzzing failed with seed ${seed}: ${String(cause)}`, { cause });
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** Runs a codec and returns its output and its final state, to check how much the state retains. */
export function runWithState<State, Piece, Out>(
  codec: Codec<State, Piece, Out>,
  pieces: Iterable<Piece>,
): { readonly out: Out[]; readonly state: State } {
  const out: Out[] = [];
  const state = codec.initial();
  for (const piece of pieces) codec.step(state, piece, (item) => out.push(item));
  codec.finish(state, (item) => out.push(item));
  return { out, state };
}
