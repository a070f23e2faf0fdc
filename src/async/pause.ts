import type { Timer } from "./invocation-guard.ts";

/** Resolves after some milliseconds; rejects with the signal's reason when that ends the wait. */
export function pause(timer: Timer, milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const abort = (): void => {
      cancelTimer();
      reject(signal.reason);
    };
    const cancelTimer = timer.schedule(milliseconds, () => {
      signal.removeEventListener("abort", abort);
      resolve();
    });
    signal.addEventListener("abort", abort, { once: true });
  });
}

/** Stops waiting for something that cannot itself be ended; what it comes to later is nobody's concern. */
export function waitUnlessAborted<Value>(
  work: Promise<Value>,
  signal: AbortSignal,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

/** What work comes to, or that it takes longer than so many milliseconds; then it is nobody's concern any more. */
export async function waitWithTimeout<Value>(
  timer: Timer,
  milliseconds: number,
  work: Promise<Value>,
): Promise<Value | "late"> {
  let cancelTimer = (): void => {};
  const timeout = new Promise<"late">((resolve) => {
    cancelTimer = timer.schedule(milliseconds, () => resolve("late"));
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    cancelTimer();
  }
}
