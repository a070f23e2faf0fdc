/** Those who follow a session only until their own turn begins: the turn before it is nothing to them. */
export interface WaitingCallers {
  /** Gives back how to say that the wait is over. */
  enter(sessionId: string): () => void;
  count(sessionId: string): number;
}

export function waitingCallers(): WaitingCallers {
  const waiting = new Map<string, number>();
  const count = (sessionId: string): number => waiting.get(sessionId) ?? 0;
  return {
    enter(sessionId) {
      waiting.set(sessionId, count(sessionId) + 1);
      let isOver = false;
      return () => {
        if (isOver) return;
        isOver = true;
        const left = count(sessionId) - 1;
        if (left === 0) waiting.delete(sessionId);
        else waiting.set(sessionId, left);
      };
    },
    count,
  };
}
