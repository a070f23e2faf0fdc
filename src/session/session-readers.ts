import { withCleanup } from "../async/with-cleanup.ts";
import type { Batch } from "../store/store.ts";

/** Who follows which session at the moment. */
export interface SessionReaders {
  /** Counts somebody for as long as they read. */
  following(
    sessionId: string,
    signal: AbortSignal,
    batches: AsyncIterable<Batch>,
  ): AsyncIterable<Batch>;
  /** Those that have said that they stop are not among them, though they may not have stopped yet. */
  count(sessionId: string): number;
}

export function sessionReaders(): SessionReaders {
  const readers = new Map<string, Set<Reading>>();
  const join = (sessionId: string, signal: AbortSignal): (() => void) => {
    const own = { signal };
    const known = readers.get(sessionId) ?? new Set();
    readers.set(sessionId, known);
    known.add(own);
    return () => {
      known.delete(own);
      if (known.size === 0 && readers.get(sessionId) === known) readers.delete(sessionId);
    };
  };
  return {
    following: (sessionId, signal, batches) => ({
      [Symbol.asyncIterator]: () =>
        withCleanup(batches[Symbol.asyncIterator](), join(sessionId, signal)),
    }),
    count: (sessionId) =>
      [...(readers.get(sessionId) ?? [])].filter(({ signal }) => !signal.aborted).length,
  };
}

/** One signal may stop several readings. */
interface Reading {
  readonly signal: AbortSignal;
}
