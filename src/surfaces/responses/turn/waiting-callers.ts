/** Those who follow a session only until their own turn begins: the turn before it is nothing to them. */
export interface WaitingCallers {
  /** One more caller. Gives back how to say whether it waits. */
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
