/** Tells those who wait for a session that something about it has changed. */
export interface Bell {
  ring(sessionId: string): void;
  /** Rings for every session. */
  ringAll(): void;
  /** For one who waits again and again, until the signal. */
  listen(sessionId: string, signal: AbortSignal): Listening;
  /** Nobody waits any more. */
  close(): void;
  readonly isClosed: boolean;
}

export interface Listening {
  /** Resolves at the next ring, with the signal, or when the bell is closed. */
  wait(): Promise<void>;
  /** Listens no longer. */
  leave(): void;
}

export function makeBell(): Bell {
  const waiting = new Map<string, Set<() => void>>();
  let isClosed = false;
  const ring = (sessionId: string): void => {
    for (const wake of waiting.get(sessionId) ?? []) wake();
  };
  const ringAll = (): void => {
    for (const sessionId of waiting.keys()) ring(sessionId);
  };
  return {
    ring,
    ringAll,
    listen(sessionId, signal) {
      let resolve: () => void = () => {};
      const wake = (): void => {
        const wakes = waiting.get(sessionId);
        wakes?.delete(wake);
        if (wakes?.size === 0) waiting.delete(sessionId);
        resolve();
      };
      // Once for all waits: to begin and end listening costs as much as to bring an event to a reader.
      signal.addEventListener("abort", wake);
      return {
        wait: () =>
          new Promise((done) => {
            if (signal.aborted || isClosed) return done();
            resolve = done;
            const wakes = waiting.get(sessionId) ?? new Set();
            wakes.add(wake);
            waiting.set(sessionId, wakes);
          }),
        leave() {
          signal.removeEventListener("abort", wake);
          wake();
        },
      };
    },
    close() {
      isClosed = true;
      ringAll();
    },
    get isClosed() {
      return isClosed;
    },
  };
}
