import type { Readable } from "node:stream";

/**
 * The chunks of an input until it ends or the signal aborts, whichever is first; also when no chunk comes.
 *
 * The input is not destroyed at its end, as iterating over it would: it may be a socket that still has answers to send.
 * Each wait has a promise of its own: a race against one lasting promise would keep every chunk alive behind it.
 */
export async function* readChunksUntil(
  input: Readable,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  const iterator: AsyncIterator<Uint8Array> = input.iterator({ destroyOnReturn: false });
  let interrupt = (): void => {};
  const stop = (): void => interrupt();
  signal.addEventListener("abort", stop);
  try {
    while (!signal.aborted) {
      const next = await new Promise<IteratorResult<Uint8Array> | undefined>((resolve, reject) => {
        interrupt = () => resolve(undefined);
        iterator.next().then(resolve, reject);
      });
      if (next === undefined || next.done === true) return;
      yield next.value;
    }
  } finally {
    signal.removeEventListener("abort", stop);
    // An iterator that waits for its source gives in later, or never; nobody waits for that.
    iterator.return?.().catch(() => {});
  }
}
