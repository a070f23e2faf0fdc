export interface RetryOptions {
  /** How long to wait after a failure, counted from 1; undefined when the call is not made again. */
  readonly computeDelay: (error: unknown, attemptNumber: number) => number | undefined;
  readonly pause: (milliseconds: number) => Promise<void>;
}

/** Makes a call again for as long as its failures allow that. Right only for calls that may be made twice. */
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

/** Doubles. At least half of it, so that it is a wait, and at random beyond, so that not all come back at once. */
export function computeBackoff(
  attemptNumber: number,
  random: number,
  { first, longest }: Backoff,
): number {
  const maxDelay = Math.min(first * 2 ** (attemptNumber - 1), longest);
  return (maxDelay / 2) * (1 + random);
}
