import { expect } from "vitest";
import { runCodec, type Codec } from "../../../src/domain/codec.ts";
import type { ProviderEvent } from "../../../src/domain/provider/provider-event.ts";
import { splitChunks, fuzz, mutateBytes, splitRandomly, twoWaySplits } from "./bytes.ts";

type ResponseCodec<State> = Codec<State, Uint8Array, ProviderEvent>;

/** Expects the same events for every two-way split and for single bytes. */
export function expectSameForAnySplit<State>(
  codec: ResponseCodec<State>,
  answer: Uint8Array,
): void {
  const whole = runCodec(codec, [answer]);
  for (const halves of twoWaySplits(answer)) expect(runCodec(codec, halves)).toEqual(whole);
  expect(runCodec(codec, splitChunks(answer, 1))).toEqual(whole);
}

/** Expects damaged input never to throw, and exactly one `end` event, in the last position. */
export function expectOneEndWhenDamaged<State>(
  codec: ResponseCodec<State>,
  answer: Uint8Array,
): void {
  fuzz(2000, (random) => {
    const damaged = mutateBytes(answer, random);
    const out = runCodec(codec, splitRandomly(damaged, random));
    expect(out.filter(({ type }) => type === "end")).toEqual([out.at(-1)]);
    expect(out).toEqual(runCodec(codec, [damaged]));
  });
}
