import { withCleanup } from "../../async/with-cleanup.ts";
import type { EventBatch } from "../../store/log-store.ts";

/** Counts the subscribers of each session. */
export interface SessionReaders {
  /** Counts a subscriber until its iteration ends. */
  trackReader(
    sessionId: string,
    signal: AbortSignal,
    batches: AsyncIterable<EventBatch>,
  ): AsyncIterable<EventBatch>;
  /** Excludes subscribers whose signal is aborted, even before their iteration has ended. */
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

/** An object per reading, because several readings may share a signal. */
interface Reading {
  readonly signal: AbortSignal;
}
