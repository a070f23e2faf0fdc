/** The time and timers as a value, so tests can use a fake clock. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls `run` once after the given time. Returns a function that cancels the timer. */
  schedule(milliseconds: number, run: () => void): () => void;
}

/** A clock for measuring durations. `monotonic` never jumps; `now` jumps when the system time is set. */
export interface SteadyClock extends Clock {
  /** Milliseconds since an arbitrary moment. Only differences are meaningful. */
  monotonic(): number;
}

export const systemClock: SteadyClock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  schedule(milliseconds, run) {
    const timer = setTimeout(run, Math.min(milliseconds, MAX_TIMER_MS));
    return () => clearTimeout(timer);
  },
};

/** Node fires a timer with a longer delay after one millisecond. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Formats a time as an HTTP date with seconds: `Tue, 15 Nov 1994 08:12:31 GMT`. */
export function formatHttpTime(milliseconds: number): string {
  return new Date(milliseconds).toUTCString();
}
