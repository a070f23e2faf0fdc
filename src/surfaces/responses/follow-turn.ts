import type { Codec } from "../../domain/codec.ts";
import type { Envelope } from "../../domain/envelope.ts";
import type { Asked } from "./ask.ts";
import { watchTurn, type Watched, type WatchOptions } from "./watch-turn.ts";

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
  const finish = (): Output[] => {
    const last: Output[] = [];
    if (!isOver()) codec.finish(state, (output) => last.push(output));
    return last;
  };
  return outputsOf(watched, { held, encode, isOver, finish });
}

interface Encoding<Output> {
  /** What is there already. */
  readonly held: readonly Output[];
  readonly encode: (envelopes: readonly Envelope[]) => readonly Output[];
  readonly isOver: () => boolean;
  readonly finish: () => readonly Output[];
}

/** The rest of an answer. By hand, since each step of a generator costs as much as to encode an event. */
function outputsOf<Output>(
  watched: Watched,
  { held, encode, isOver, finish }: Encoding<Output>,
): AsyncIterableIterator<readonly Output[]> {
  type Result = IteratorResult<readonly Output[]>;
  let first: readonly Output[] | undefined = held;
  let isFinished = false;
  let leaving: Promise<void> | undefined;
  const leave = (): Promise<void> => (leaving ??= watched.leave());
  const over = async (): Promise<Result> => {
    await leave();
    return { done: true, value: undefined };
  };
  const broken = async (error: unknown): Promise<never> => {
    await leave();
    throw error;
  };
  const taken = (envelopes: readonly Envelope[]): Result | Promise<Result> => {
    isFinished = watched.isEnded();
    const encoded = encode(envelopes);
    const outputs = isFinished ? [...encoded, ...finish()] : encoded;
    return outputs.length > 0 ? { done: false, value: outputs } : next();
  };
  const next = (): Promise<Result> => {
    if (first !== undefined && first.length > 0 && leaving === undefined) {
      const value = first;
      first = undefined;
      return Promise.resolve({ done: false, value });
    }
    if (isFinished || leaving !== undefined || isOver()) return over();
    return watched.more(taken, broken);
  };
  const outputs: AsyncIterableIterator<readonly Output[]> = {
    [Symbol.asyncIterator]: () => outputs,
    next,
    return: over,
  };
  return outputs;
}
