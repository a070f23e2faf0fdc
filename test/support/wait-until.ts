import { formatTail, WAIT_MS } from "./with-deadline.ts";

/** Waits, tick by tick of the event loop, until a condition holds. Fails with `state` if it does not hold in time. */
export async function waitUntil(
  condition: () => boolean | Promise<boolean>,
  state: () => readonly unknown[] = () => [],
): Promise<void> {
  const start = performance.now();
  while (!(await condition())) {
    if (performance.now() - start > WAIT_MS) {
      throw new Error(
        `Not so after ${WAIT_MS / 1000} s: ${String(condition)}\n  ${formatTail(state())}`,
      );
    }
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
}
