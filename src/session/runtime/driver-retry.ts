import { SpanlineError, type ErrorCode } from "../../domain/errors.ts";
import type { SteadyClock } from "../../platform/clock.ts";
import { isTransientStoreError } from "./log/write-retry.ts";

export interface DriverRetryOptions {
  readonly clock: SteadyClock;
  /** Resumes the session. Rejects if it cannot. */
  readonly resume: (sessionId: string) => Promise<unknown>;
  readonly report: (error: unknown) => void;
  /** Called when retries end; the session stays inactive until its next use. */
  readonly onGiveUp: (sessionId: string, error: unknown) => void;
}

/** Resumes failed sessions with backoff. Retries without limit while the store cannot be written. */
export interface DriverRetry {
  /** `over` resolves when all effects of the session have ended. */
  recordFailure(sessionId: string, error: unknown, over: Promise<void>): void;
  /** Resolves when all effects of the previous driver have ended, so the session may be resumed. */
  waitUntilEnded(sessionId: string): Promise<void>;
  /** Schedules a retry for a session which could not be resumed in the background. */
  resumeLater(sessionId: string, error: unknown): void;
  stop(): void;
}

export function createDriverRetry({
  clock,
  resume,
  report,
  onGiveUp,
}: DriverRetryOptions): DriverRetry {
  const failures = new Map<string, { readonly tries: number; readonly at: number }>();
  const endings = new Map<string, Promise<void>>();
  const timers = new Map<string, () => void>();
  /** Sessions with a failure reported since their last retry: a driver failing at its start reports twice. */
  const reported = new Set<string>();
  let isStopped = false;

  const tryLater = (sessionId: string, error: unknown): void => {
    report(error);
    if (isStopped || timers.has(sessionId)) return;
    const previousFailure = failures.get(sessionId);
    const isRecent =
      previousFailure !== undefined && clock.monotonic() - previousFailure.at < RECENT_MS;
    const tries = isRecent ? previousFailure.tries + 1 : 1;
    const isPatient = isTransientStoreError(error);
    if (isPermanentError(error) || (tries > MAX_TRIES && !isPatient)) {
      failures.delete(sessionId);
      onGiveUp(sessionId, error);
      return;
    }
    failures.set(sessionId, { tries, at: clock.monotonic() });
    const pause = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (tries - 1));
    const stopTimer = clock.schedule(pause, () => {
      timers.delete(sessionId);
      reported.delete(sessionId);
      resume(sessionId).catch((retryError: unknown) => {
        if (!reported.has(sessionId)) tryLater(sessionId, retryError);
      });
    });
    timers.set(sessionId, stopTimer);
  };

  return {
    recordFailure(sessionId, error, over) {
      const ending = over.finally(() => {
        if (endings.get(sessionId) === ending) endings.delete(sessionId);
      });
      endings.set(sessionId, ending);
      reported.add(sessionId);
      tryLater(sessionId, error);
    },
    async waitUntilEnded(sessionId) {
      await endings.get(sessionId);
    },
    resumeLater(sessionId, error) {
      if (!reported.has(sessionId)) tryLater(sessionId, error);
    },
    stop() {
      isStopped = true;
      for (const stopTimer of timers.values()) stopTimer();
      timers.clear();
    },
  };
}

const MAX_TRIES = 5;
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5000;
/** Milliseconds. A failure after a longer run counts as the first again. */
const RECENT_MS = 60_000;

/** Another process owns the session, or its log cannot be used. */
function isPermanentError(error: unknown): boolean {
  return error instanceof SpanlineError && PERMANENT_CODES.has(error.code);
}

const PERMANENT_CODES: ReadonlySet<ErrorCode> = new Set([
  "stale_lease",
  "lease_held",
  "store_closed",
  "store_damaged",
  "store_newer",
  "not_found",
] as const);
