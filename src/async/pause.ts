import type { Timer } from "./invocation-guard.ts";

/** Resolves after the given time. Rejects with the signal's reason if the signal aborts first. */
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

/**
 * Waits for work which cannot be cancelled. Rejects with the signal's reason if the signal aborts; a later result or
 * error of the work is ignored.
 */
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

/** Waits for work with a timeout. Returns `late` after the timeout; the work continues, and its result is ignored. */
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
