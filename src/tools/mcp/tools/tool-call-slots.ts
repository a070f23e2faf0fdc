import { SpanlineError } from "../../../domain/errors.ts";

/** Lets so many calls run at once; others wait in order. */
export interface ToolCallSlots {
  /** Resolves to how to give the slot back. Rejects with the signal's reason, or when too many wait already. */
  acquire(signal: AbortSignal): Promise<() => void>;
}

export function createToolCallSlots(maxRunning: number, maxWaiting: number): ToolCallSlots {
  let running = 0;
  const waiting = new Set<() => void>();
  const occupySlot = (): (() => void) => {
    running += 1;
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      running -= 1;
      const [next] = waiting;
      next?.();
    };
  };
  return {
    acquire: (signal) =>
      new Promise((resolve, reject) => {
        signal.throwIfAborted();
        if (running < maxRunning) return resolve(occupySlot());
        if (waiting.size >= maxWaiting) {
          const message = `${maxWaiting} calls wait for it already; wait for some of them to end`;
          throw new SpanlineError("throttled", message);
        }
        const begin = (): void => {
          waiting.delete(begin);
          signal.removeEventListener("abort", onAbort);
          resolve(occupySlot());
        };
        const onAbort = (): void => {
          waiting.delete(begin);
          reject(signal.reason);
        };
        waiting.add(begin);
        signal.addEventListener("abort", onAbort, { once: true });
      }),
  };
}
