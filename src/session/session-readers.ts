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
  const readers = new Map<string, Set<AbortSignal>>();
  return {
    async *following(sessionId, signal, batches) {
      // One signal may stop several readings.
      const own = AbortSignal.any([signal]);
      const known = readers.get(sessionId) ?? new Set();
      readers.set(sessionId, known);
      known.add(own);
      try {
        yield* batches;
      } finally {
        known.delete(own);
        if (known.size === 0 && readers.get(sessionId) === known) readers.delete(sessionId);
      }
    },
    count: (sessionId) =>
      [...(readers.get(sessionId) ?? [])].filter(({ aborted }) => !aborted).length,
  };
}
