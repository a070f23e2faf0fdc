/**
 * Counts the callers whose own prompt is still queued. They read the session's events, but do not count as readers of
 * the running turn.
 */
export interface WaitingCallers {
  /** Adds a caller. Returns a function to report whether the caller's prompt is queued. */
  join(sessionId: string): (isWaiting: boolean) => void;
  count(sessionId: string): number;
}

export function createWaitingCallers(): WaitingCallers {
  const waiting = new Map<string, number>();
  const count = (sessionId: string): number => waiting.get(sessionId) ?? 0;
  return {
    join(sessionId) {
      let wasWaiting = false;
      return (isWaiting) => {
        if (isWaiting === wasWaiting) return;
        wasWaiting = isWaiting;
        const now = count(sessionId) + (isWaiting ? 1 : -1);
        if (now === 0) waiting.delete(sessionId);
        else waiting.set(sessionId, now);
      };
    },
    count,
  };
}
