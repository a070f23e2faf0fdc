import { SpanlineError } from "../../../domain/errors.ts";

/** Limits concurrent tool calls; further calls wait in order. */
export interface ToolCallSlots {
  /**
   * Resolves to a function which releases the slot. Rejects with the signal's reason, or with `throttled` if too many
   * calls are waiting.
   */
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
          const message = `${maxWaiting} tool calls are already waiting for this server. Fix: wait until some of them end`;
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
