/** Tells those who wait for a session that something about it has changed. */
export interface ChangeNotifier {
  notify(sessionId: string): void;
  /** Rings for every session. */
  notifyAll(): void;
  /** Calls at every ring of a session, and when the bell is closed, until it is left. */
  listen(sessionId: string, onChange: () => void): () => void;
  /** Nobody waits any more. */
  close(): void;
  readonly isClosed: boolean;
}

export function createChangeNotifier(): ChangeNotifier {
  const listening = new Map<string, Set<() => void>>();
  let isClosed = false;
  const notify = (sessionId: string): void => {
    listening.get(sessionId)?.forEach((onChange) => onChange());
  };
  const notifyAll = (): void => {
    for (const sessionId of listening.keys()) notify(sessionId);
  };
  return {
    notify,
    notifyAll,
    listen(sessionId, onChange) {
      const all = listening.get(sessionId) ?? new Set();
      all.add(onChange);
      listening.set(sessionId, all);
      return () => {
        all.delete(onChange);
        if (all.size === 0 && listening.get(sessionId) === all) listening.delete(sessionId);
      };
    },
    close() {
      isClosed = true;
      notifyAll();
    },
    get isClosed() {
      return isClosed;
    },
  };
}
