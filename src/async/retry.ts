export interface RetryOptions {
  /**
   * The delay before the next attempt, in milliseconds. `attemptNumber` counts from 1. Undefined to stop.
   */
  readonly computeDelay: (error: unknown, attemptNumber: number) => number | undefined;
  readonly pause: (milliseconds: number) => Promise<void>;
}

/** Repeats an operation until it succeeds or `computeDelay` returns undefined. Use only for idempotent operations. */
export async function retry<Answer>(
  attempt: (attemptNumber: number) => Promise<Answer>,
  { computeDelay, pause }: RetryOptions,
): Promise<Answer> {
  for (let attemptNumber = 1; ; attemptNumber += 1) {
    try {
      return await attempt(attemptNumber);
    } catch (error) {
      const wait = computeDelay(error, attemptNumber);
      if (wait === undefined) throw error;
      await pause(wait);
    }
  }
}

export interface Backoff {
  readonly first: number;
  readonly longest: number;
}

/**
 * Exponential backoff with jitter. The delay is at least half of the maximum for this attempt; the rest is random, so
 * clients do not all retry at the same time.
 */
export function computeBackoff(
  attemptNumber: number,
  random: number,
  { first, longest }: Backoff,
): number {
  const maxDelay = Math.min(first * 2 ** (attemptNumber - 1), longest);
  return (maxDelay / 2) * (1 + random);
}
