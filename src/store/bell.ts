/** Tells those who wait for a session that something about it has changed. */
export interface Bell {
  ring(sessionId: string): void;
  /** Rings for every session. */
  ringAll(): void;
  /** Calls at every ring of a session, and when the bell is closed, until it is left. */
  listen(sessionId: string, heard: () => void): () => void;
  /** Nobody waits any more. */
  close(): void;
  readonly isClosed: boolean;
}

export function makeBell(): Bell {
  const listening = new Map<string, Set<() => void>>();
  let isClosed = false;
  const ring = (sessionId: string): void => {
    listening.get(sessionId)?.forEach((heard) => heard());
  };
  const ringAll = (): void => {
    for (const sessionId of listening.keys()) ring(sessionId);
  };
  return {
    ring,
    ringAll,
    listen(sessionId, heard) {
      const all = listening.get(sessionId) ?? new Set();
      all.add(heard);
      listening.set(sessionId, all);
      return () => {
        all.delete(heard);
        if (all.size === 0 && listening.get(sessionId) === all) listening.delete(sessionId);
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
