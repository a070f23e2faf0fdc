import type { SteadyClock } from "../../src/platform/clock.ts";
import { PROCESS_MS } from "./with-deadline.ts";

/** A clock that stands still until a test moves it. */
export interface FakeClock extends SteadyClock {
  /** Moves the time ahead and runs all due timers in order. */
  advance(milliseconds: number): void;
  /** Changes the system time, like a user or a time server. No time passes. */
  jump(milliseconds: number): void;
  /** The number of timers which have neither run nor been cancelled. */
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
 * Moves the time ahead in steps until `completion` resolves. Each step waits a real millisecond, because sockets and
 * threads need real time: otherwise hours of fake time would pass before a response arrives.
 */
export async function advanceUntil(clock: FakeClock, completion: Promise<unknown>): Promise<void> {
  const pause = (): Promise<false> =>
    new Promise((resolve) => {
      setTimeout(() => resolve(false), 1);
    });
  const isDone = completion.then(() => true);
  const start = performance.now();
  while (!(await Promise.race([isDone, pause()]))) {
    if (performance.now() - start > PROCESS_MS)
      throw new Error("The promise did not resolve, although the clock was advanced");
    if (clock.pending > 0) clock.advance(250);
  }
}
