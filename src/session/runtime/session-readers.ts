import { withCleanup } from "../../async/with-cleanup.ts";
import type { EventBatch } from "../../store/log-store.ts";

/** Who follows which session at the moment. */
export interface SessionReaders {
  /** Counts somebody for as long as they read. */
  trackReader(
    sessionId: string,
    signal: AbortSignal,
    batches: AsyncIterable<EventBatch>,
  ): AsyncIterable<EventBatch>;
  /** Those that have said that they stop are not among them, though they may not have stopped yet. */
  countReaders(sessionId: string): number;
}

export function createSessionReaders(): SessionReaders {
  const readers = new Map<string, Set<Reading>>();
  const join = (sessionId: string, signal: AbortSignal): (() => void) => {
    const reading = { signal };
    const sessionReadings = readers.get(sessionId) ?? new Set();
    readers.set(sessionId, sessionReadings);
    sessionReadings.add(reading);
    return () => {
      sessionReadings.delete(reading);
      if (sessionReadings.size === 0 && readers.get(sessionId) === sessionReadings)
        readers.delete(sessionId);
    };
  };
  return {
    trackReader: (sessionId, signal, batches) => ({
      [Symbol.asyncIterator]: () =>
        withCleanup(batches[Symbol.asyncIterator](), join(sessionId, signal)),
    }),
    countReaders: (sessionId) =>
      [...(readers.get(sessionId) ?? [])].filter(({ signal }) => !signal.aborted).length,
  };
}

/** One signal may stop several readings. */
interface Reading {
  readonly signal: AbortSignal;
}
