import type { Clock } from "../platform/clock.ts";

/** Another clock, moved ahead. */
export interface MovableClock extends Clock {
  /** How far it is ahead, in milliseconds. */
  offset(): number;
  /** Moves on, and calls back whoever waited for a time that has passed with that, in the order of their times. */
  advance(milliseconds: number): void;
}

interface Waiting {
  readonly dueAt: number;
  readonly run: () => void;
  callOff: () => void;
}

export function movableClock(base: Clock, startOffset = 0): MovableClock {
  let offset = startOffset;
  const waiting = new Set<Waiting>();
  const now = (): number => base.now() + offset;

  function arm(one: Waiting): void {
    one.callOff();
    one.callOff = base.after(Math.max(0, one.dueAt - now()), () => {
      if (waiting.delete(one)) one.run();
    });
  }

  return {
    now,
    after(milliseconds, run) {
      const one: Waiting = { dueAt: now() + milliseconds, run, callOff: () => {} };
      waiting.add(one);
      arm(one);
      return () => {
        waiting.delete(one);
        one.callOff();
      };
    },
    offset: () => offset,
    advance(milliseconds) {
      offset += milliseconds;
      const inOrder = [...waiting].sort((left, right) => left.dueAt - right.dueAt);
      for (const one of inOrder) {
        if (one.dueAt > now()) arm(one);
        else if (waiting.delete(one)) {
          one.callOff();
          one.run();
        }
      }
    },
  };
}
