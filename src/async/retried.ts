export interface RetryRules {
  /** How long to wait after a failure, counted from 1; undefined when the call is not made again. */
  readonly waitAfter: (error: unknown, made: number) => number | undefined;
  readonly pause: (milliseconds: number) => Promise<void>;
}

/** Makes a call again for as long as its failures allow that. Right only for calls that may be made twice. */
export async function retried<Answer>(
  attempt: (made: number) => Promise<Answer>,
  { waitAfter, pause }: RetryRules,
): Promise<Answer> {
  for (let made = 1; ; made += 1) {
    try {
      return await attempt(made);
    } catch (error) {
      const wait = waitAfter(error, made);
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
export function backoff(made: number, random: number, { first, longest }: Backoff): number {
  const most = Math.min(first * 2 ** (made - 1), longest);
  return (most / 2) * (1 + random);
}
