import type { SteadyClock } from "../../src/platform/clock.ts";
import { PROCESS_MS } from "./with-deadline.ts";

/** A clock that stands still until a test moves it. */
export interface FakeClock extends SteadyClock {
  /** Lets the time pass, and everything due in it happen in order. */
  advance(milliseconds: number): void;
  /** Sets another time of day, as a user or a time server does. No time passes. */
  jump(milliseconds: number): void;
  /** Timers that have neither run nor been called off. */
  readonly pending: number;
}

export function createFakeClock(start = Date.UTC(2026, 10, 16)): FakeClock {
  let now = 0;
  let offset = start;
  const timers = new Set<{ readonly at: number; readonly run: () => void }>();
  return {
    now: () => now + offset,
    monotonic: () => now,
    schedule(milliseconds, run) {
      const timer = { at: now + milliseconds, run };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    advance(milliseconds) {
      const end = now + milliseconds;
      for (;;) {
        const [next] = [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
        if (next === undefined) break;
        timers.delete(next);
        now = Math.max(now, next.at);
        next.run();
      }
      now = end;
    },
    jump(milliseconds) {
      offset += milliseconds;
    },
    get pending() {
      return timers.size;
    },
  };
}

/**
 * Lets the time pass, timer by timer, until something has come. What is on its way through sockets and threads takes this
 * machine's time, of which each step has some: otherwise hours would pass before an answer is there.
 */
export async function advanceUntil(clock: FakeClock, completion: Promise<unknown>): Promise<void> {
  const pause = (): Promise<false> =>
    new Promise((resolve) => {
      setTimeout(() => resolve(false), 1);
    });
  const isDone = completion.then(() => true);
  const start = performance.now();
  while (!(await Promise.race([isDone, pause()]))) {
    if (performance.now() - start > PROCESS_MS) throw new Error("Nothing came, however late it is");
    if (clock.pending > 0) clock.advance(250);
  }
}
