import type { Clock } from "../platform/clock.ts";

/** A clock that can be moved ahead of its base clock. */
export interface MovableClock extends Clock {
  /** How far the clock is ahead, in milliseconds. */
  offset(): number;
  /** Moves the clock ahead and runs all timers due by then, in order of their times. */
  advance(milliseconds: number): void;
}

interface PendingTimer {
  readonly dueAt: number;
  readonly run: () => void;
  cancel: () => void;
}

export function createMovableClock(base: Clock, startOffset = 0): MovableClock {
  let offset = startOffset;
  const timers = new Set<PendingTimer>();
  const now = (): number => base.now() + offset;

  function arm(timer: PendingTimer): void {
    timer.cancel();
    timer.cancel = base.schedule(Math.max(0, timer.dueAt - now()), () => {
      if (timers.delete(timer)) timer.run();
    });
  }

  return {
    now,
    schedule(milliseconds, run) {
      const timer: PendingTimer = { dueAt: now() + milliseconds, run, cancel: () => {} };
      timers.add(timer);
      arm(timer);
      return () => {
        timers.delete(timer);
        timer.cancel();
      };
    },
    offset: () => offset,
    advance(milliseconds) {
      offset += milliseconds;
      const inOrder = [...timers].sort((left, right) => left.dueAt - right.dueAt);
      for (const timer of inOrder) {
        if (timer.dueAt > now()) arm(timer);
        else if (timers.delete(timer)) {
          timer.cancel();
          timer.run();
        }
      }
    },
  };
}
