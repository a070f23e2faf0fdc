import { flattenAsync } from "../../../async/flatten-async.ts";
import type { Codec } from "../../../domain/codec.ts";
import type { Envelope } from "../../../domain/events/envelope.ts";
import type { SubmittedPrompt } from "../prompt/prompt-request.ts";
import { watchTurn, type WatchOptions } from "./watch-turn.ts";

/**
 * Follows the response to a submitted prompt. Resolves at the agent's first output, or after `holdMs` without output.
 * Rejects if the agent fails before, so the HTTP status can report the failure.
 */
export async function followTurn<State, Output>(
  submitted: SubmittedPrompt,
  codec: Codec<State, Envelope, Output>,
  options: WatchOptions,
): Promise<AsyncIterableIterator<readonly Output[]>> {
  const watcher = watchTurn(submitted, options);
  const state = codec.initial();
  const encode = (envelopes: readonly Envelope[]): Output[] => {
    const outputs: Output[] = [];
    for (const envelope of envelopes) codec.step(state, envelope, (output) => outputs.push(output));
    return outputs;
  };
  const bufferedOutputs: Output[] = [];
  try {
    for (;;) {
      const envelopes = await watcher.next();
      if (envelopes === "quiet") break;
      bufferedOutputs.push(...encode(envelopes));
      if (watcher.hasOutput()) break;
    }
  } catch (error) {
    await watcher.leave();
    throw error;
  }
  const isOver = (): boolean => codec.isOver?.(state) === true;
  const remaining = watcher.readRest();
  const source: AsyncIterator<readonly Envelope[]> = {
    next: () => (isOver() ? Promise.resolve(DONE) : remaining.next()),
  };
  const toBatches = (outputs: readonly Output[]) => (outputs.length > 0 ? [outputs] : []);
  return flattenAsync(source, {
    initial: toBatches(bufferedOutputs),
    expand: (envelopes) => toBatches(encode(envelopes)),
    onEnd() {
      const last: Output[] = [];
      if (!isOver()) codec.finish(state, (output) => last.push(output));
      return toBatches(last);
    },
    onClose: () => watcher.leave(),
  });
}

const DONE = { done: true, value: undefined } as const;
