/** Tells those who wait for a session that something about it has changed. */
export interface Bell {
  ring(sessionId: string): void;
  /** Rings for every session. */
  ringAll(): void;
  /** Resolves at the next ring, with the signal, or when the bell is closed. */
  wait(sessionId: string, signal: AbortSignal): Promise<void>;
  /** Nobody waits any more. */
  close(): void;
  readonly isClosed: boolean;
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
    wait: (sessionId, signal) =>
      new Promise((resolve) => {
        if (signal.aborted || isClosed) return resolve();
        const wakes = waiting.get(sessionId) ?? new Set();
        const wake = (): void => {
          wakes.delete(wake);
          if (wakes.size === 0) waiting.delete(sessionId);
          signal.removeEventListener("abort", wake);
          resolve();
        };
        wakes.add(wake);
        waiting.set(sessionId, wakes);
        signal.addEventListener("abort", wake);
      }),
    close() {
      isClosed = true;
      ringAll();
    },
    get isClosed() {
      return isClosed;
    },
  };
}
