import type { SteadyClock } from "../../platform/clock.ts";

/** Rings once, at the time that it was last set to. */
export interface Alarm {
  /** In milliseconds since 1970; null for never. */
  set(at: number | null): void;
}

export function createAlarm(clock: SteadyClock, onAlarm: () => void): Alarm {
  let stopTimer: (() => void) | undefined;
  return {
    set(at) {
      stopTimer?.();
      stopTimer = at === null ? undefined : clock.schedule(Math.max(0, at - clock.now()), onAlarm);
    },
  };
}
