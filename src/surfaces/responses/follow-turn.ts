import { flattened } from "../../async/flattened.ts";
import type { Codec } from "../../domain/codec.ts";
import type { Envelope } from "../../domain/envelope.ts";
import type { Asked } from "./ask.ts";
import { watchTurn, type WatchOptions } from "./watch-turn.ts";

/**
 * The answer to what was asked, as it comes. Resolves when the agent has begun to speak, or when it has been silent for a
 * while; rejects where it never will, so that the answer's status can say so.
 */
export async function followTurn<State, Output>(
  asked: Asked,
  codec: Codec<State, Envelope, Output>,
  options: WatchOptions,
): Promise<AsyncIterableIterator<readonly Output[]>> {
  const watched = watchTurn(asked, options);
  const state = codec.initial();
  const encode = (envelopes: readonly Envelope[]): Output[] => {
    const outputs: Output[] = [];
    for (const envelope of envelopes) codec.step(state, envelope, (output) => outputs.push(output));
    return outputs;
  };
  const held: Output[] = [];
  try {
    for (;;) {
      const envelopes = await watched.next();
      if (envelopes === "quiet") break;
      held.push(...encode(envelopes));
      if (watched.isSpeaking()) break;
    }
  } catch (error) {
    await watched.leave();
    throw error;
  }
  const isOver = (): boolean => codec.isOver?.(state) === true;
  const rest = watched.rest();
  const source: AsyncIterator<readonly Envelope[]> = {
    next: () => (isOver() ? Promise.resolve(OVER) : rest.next()),
  };
  const some = (outputs: readonly Output[]) => (outputs.length > 0 ? [outputs] : []);
  return flattened(source, {
    first: some(held),
    of: (envelopes) => some(encode(envelopes)),
    atEnd() {
      const last: Output[] = [];
      if (!isOver()) codec.finish(state, (output) => last.push(output));
      return some(last);
    },
    leave: () => watched.leave(),
  });
}

const OVER = { done: true, value: undefined } as const;
