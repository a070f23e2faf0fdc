import type { Timer } from "./call-guard.ts";

/** Resolves after some milliseconds; rejects with the signal's reason when that ends the wait. */
export function pause(timer: Timer, milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const end = (): void => {
      callOff();
      reject(signal.reason);
    };
    const callOff = timer.after(milliseconds, () => {
      signal.removeEventListener("abort", end);
      resolve();
    });
    signal.addEventListener("abort", end, { once: true });
  });
}

/** Stops waiting for something that cannot itself be ended; what it comes to later is nobody's concern. */
export function untilAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const end = (): void => reject(signal.reason);
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener("abort", end));
  });
}

/** What work comes to, or that it takes longer than so many milliseconds; then it is nobody's concern any more. */
export async function orLate<Value>(
  timer: Timer,
  milliseconds: number,
  work: Promise<Value>,
): Promise<Value | "late"> {
  let callOff = (): void => {};
  const late = new Promise<"late">((resolve) => {
    callOff = timer.after(milliseconds, () => resolve("late"));
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    callOff();
  }
}
