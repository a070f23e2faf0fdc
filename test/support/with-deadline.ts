/** How long a test waits for a result. Longer than a busy machine needs, and short enough for a useful failure. */
export const WAIT_MS = 15_000;

/** The deadline if a process has to start first. */
export const PROCESS_MS = 30_000;

/** The number of slices of a deadline. */
const SLICES = 20;

// Saved now, because tests may replace the global timers.
const { setTimeout: startTimer, clearTimeout: stopTimer } = globalThis;

/**
 * Waits with a deadline. A regression then fails after seconds with the state in its message, instead of after the
 * test's timeout without a state. `state` is read only if the deadline passes. The deadline is counted in slices: a
 * process without CPU time for a while loses a single slice, not the whole wait.
 */
export async function withDeadline<Value>(
  promise: Promise<Value>,
  state: () => string | Promise<string>,
  milliseconds = WAIT_MS,
): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<"late">((resolve) => {
    const waitSlices = (remaining: number): void => {
      const next = () => (remaining === 1 ? resolve("late") : waitSlices(remaining - 1));
      timer = startTimer(next, milliseconds / SLICES);
    };
    waitSlices(SLICES);
  });
  const first = await Promise.race([promise.then((value) => ({ value })), deadline]);
  stopTimer(timer);
  if (first !== "late") return first.value;
  throw new Error(`No result within ${milliseconds / 1000} s: ${await state()}`);
}

/** The last items of a list, for a message. */
export function formatTail(items: readonly unknown[], maxItems = 12): string {
  const formatted = items.slice(-maxItems).map((item) => {
    const text = typeof item === "string" ? item : JSON.stringify(item);
    return text.length > 400 ? `${text.slice(0, 400)}…` : text;
  });
  const omittedCount = items.length - formatted.length;
  return [...(omittedCount > 0 ? [`(${omittedCount} before)`] : []), ...formatted].join("\n  ");
}

/** Waits tick by tick until a condition holds. Fails with `state` after the deadline. */
export async function waitUntil(
  condition: () => boolean | Promise<boolean>,
  state: () => readonly unknown[] = () => [],
): Promise<void> {
  const start = performance.now();
  while (!(await condition())) {
    if (performance.now() - start > WAIT_MS) {
      throw new Error(
        `The condition did not hold within ${WAIT_MS / 1000} s: ${String(condition)}\n  ${formatTail(state())}`,
      );
    }
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
}
