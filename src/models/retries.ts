import { pause } from "../async/pause.ts";
import { backoff, retried } from "../async/retried.ts";
import { AbortError, ProviderError } from "../domain/provider-error.ts";
import type { Clock } from "../platform/clock.ts";

export interface RetryPolicy {
  readonly clock: Clock;
  readonly random: () => number;
  readonly maxAttempts: number;
}

/**
 * Makes a call again that found no connection or a busy server, after the time that the server wishes, else after one
 * that doubles. Right only for calls that have no effect.
 */
export async function withRetries<Answer>(
  { clock, random, maxAttempts }: RetryPolicy,
  signal: AbortSignal,
  attempt: () => Promise<Answer>,
): Promise<Answer> {
  return retried(attempt, {
    waitAfter(error, made) {
      if (made >= maxAttempts || !(error instanceof ProviderError)) return undefined;
      if (!isPassing(error)) return undefined;
      const wait = wished(error) ?? backoff(made, random(), WAITS);
      return wait > WAITS.longest ? undefined : wait;
    },
    pause: (milliseconds) =>
      pause(clock, milliseconds, signal).catch((reason: unknown) => {
        throw new AbortError(reason);
      }),
  });
}

/** Before an answer a lost connection is as good as none: often it had been kept too long. */
function isPassing({ code, status, details }: ProviderError): boolean {
  if (details["mayRetry"] === false) return false;
  if (code === "connect_failed" || code === "connection_lost" || code === "throttled") return true;
  return code === "service_failed" && status !== undefined && BUSY.has(status);
}

/** 529 is Anthropic's word for overloaded. */
const BUSY: ReadonlySet<number> = new Set([502, 503, 504, 529]);

function wished({ details }: ProviderError): number | undefined {
  const { retryAfter } = details;
  return typeof retryAfter === "number" ? retryAfter * 1000 : undefined;
}

/** In milliseconds. A caller who would rather wait longer can do so himself. */
const WAITS = { first: 500, longest: 60_000 } as const;
