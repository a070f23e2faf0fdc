import type { SteadyClock } from "../../src/platform/clock.ts";

/** A clock whose timers fire at once. Records the requested delays. */
export interface InstantClock extends SteadyClock {
  readonly waits: readonly number[];
}

export function createInstantClock(): InstantClock {
  const waits: number[] = [];
  return {
    waits,
    now: () => 0,
    monotonic: () => 0,
    schedule(milliseconds, run) {
      waits.push(milliseconds);
      queueMicrotask(run);
      return () => {};
    },
  };
}
