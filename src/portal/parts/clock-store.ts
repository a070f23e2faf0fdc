import type { Clock } from "../../platform/clock.ts";

/**
 * The current time for views. One timer serves all views; without views, no timer runs. The time changes once per
 * second, on the second.
 */
export interface ClockStore {
  /** The time of the last tick, in milliseconds since 1970. */
  readonly now: () => number;
  /** Calls `notify` after each tick. Returns a function that ends the subscription. */
  readonly subscribe: (notify: () => void) => () => void;
}

export function createClockStore(clock: Clock): ClockStore {
  const listeners = new Set<() => void>();
  const readSeconds = (): number => Math.floor(clock.now() / TICK_MS) * TICK_MS;
  let now = readSeconds();
  let cancel: (() => void) | null = null;
  const tick = (): void => {
    now = readSeconds();
    cancel = clock.schedule(TICK_MS - (clock.now() % TICK_MS), tick);
    for (const notify of listeners) notify();
  };
  return {
    now() {
      // Without a timer the time would be that of the last view.
      if (cancel === null) now = readSeconds();
      return now;
    },
    subscribe(notify) {
      listeners.add(notify);
      cancel ??= clock.schedule(TICK_MS - (clock.now() % TICK_MS), tick);
      return () => {
        listeners.delete(notify);
        if (listeners.size > 0) return;
        cancel?.();
        cancel = null;
      };
    },
  };
}

const TICK_MS = 1000;
