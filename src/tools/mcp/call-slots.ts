import { SpanlineError } from "../../domain/errors.ts";

/** Lets so many calls run at once; others wait in order. */
export interface CallSlots {
  /** Resolves to how to give the slot back. Rejects with the signal's reason, or when too many wait already. */
  take(signal: AbortSignal): Promise<() => void>;
}

export function callSlots(most: number, mostWaiting: number): CallSlots {
  let running = 0;
  const waiting = new Set<() => void>();
  const give = (): (() => void) => {
    running += 1;
    let isBack = false;
    return () => {
      if (isBack) return;
      isBack = true;
      running -= 1;
      const [next] = waiting;
      next?.();
    };
  };
  return {
    take: (signal) =>
      new Promise((resolve, reject) => {
        signal.throwIfAborted();
        if (running < most) return resolve(give());
        if (waiting.size >= mostWaiting) {
          const message = `${mostWaiting} calls wait for it already; wait for some of them to end`;
          throw new SpanlineError("throttled", message);
        }
        const begin = (): void => {
          waiting.delete(begin);
          signal.removeEventListener("abort", leave);
          resolve(give());
        };
        const leave = (): void => {
          waiting.delete(begin);
          reject(signal.reason);
        };
        waiting.add(begin);
        signal.addEventListener("abort", leave, { once: true });
      }),
  };
}
