/** Time as a value: what reads it, and what waits, is given one of these. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls back once after some milliseconds, and gives back how to call that off. */
  schedule(milliseconds: number, run: () => void): () => void;
}

/** A clock that also measures. What it measures with is never set, whereas `now` jumps when somebody sets the time. */
export interface SteadyClock extends Clock {
  /** Milliseconds since a moment that has no meaning by itself. */
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

/** Node turns anything longer into one millisecond. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** A time in the words of HTTP, to the second: `Tue, 15 Nov 1994 08:12:31 GMT`. */
export function formatHttpTime(milliseconds: number): string {
  return new Date(milliseconds).toUTCString();
}
