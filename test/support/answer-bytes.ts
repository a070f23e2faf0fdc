import { expect } from "vitest";
import { runCodec, type Codec } from "../../src/domain/codec.ts";
import type { ProviderEvent } from "../../src/domain/provider-event.ts";
import { chunksOf, fuzz, mutated, randomChunks, twoWaySplits } from "./bytes.ts";

type AnswerCodec<State> = Codec<State, Uint8Array, ProviderEvent>;

/** The same events for every two-way split and for single bytes. */
export function expectSameHoweverCut<State>(codec: AnswerCodec<State>, answer: Uint8Array): void {
  const whole = runCodec(codec, [answer]);
  for (const halves of twoWaySplits(answer)) expect(runCodec(codec, halves)).toEqual(whole);
  expect(runCodec(codec, chunksOf(answer, 1))).toEqual(whole);
}

/** Nothing throws, and there is one end, which comes last. */
export function expectOneEndHoweverDamaged<State>(
  codec: AnswerCodec<State>,
  answer: Uint8Array,
): void {
  fuzz(2000, (random) => {
    const damaged = mutated(answer, random);
    const out = runCodec(codec, randomChunks(damaged, random));
    expect(out.filter(({ type }) => type === "end")).toEqual([out.at(-1)]);
    expect(out).toEqual(runCodec(codec, [damaged]));
  });
}
