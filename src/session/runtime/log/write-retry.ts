import { pause } from "../../../async/pause.ts";
import { SpanlineError, type ErrorCode } from "../../../domain/errors.ts";
import type { Clock } from "../../../platform/clock.ts";

/**
 * Behaviour of a session while its log cannot be written, as on a full disk: the write is repeated with backoff, so the
 * turn continues once there is space. Callers do not wait that long: each gets the store's error after
 * `CALLER_WAIT_MS`, and its request is not written later.
 */
export interface WriteRetry {
  /** The error of the last write while writes are being repeated. Undefined otherwise. */
  readonly error: unknown;
  /** Repeats a write until it succeeds. Rejects on a permanent error, when its caller gives up, or at `end`. */
  readonly retry: <Result>(write: () => Promise<Result>, caller?: WaitingCaller) => Promise<Result>;
  /** Runs a caller's work, which may wait in a queue first. */
  runForCaller<Result>(work: (caller: WaitingCaller) => Promise<Result>): Promise<Result>;
  /** Ends all retries: the session closes. */
  end(): void;
}

export interface WriteRetryOptions {
  readonly clock: Clock;
  /** Called once per stall. */
  readonly report: (error: unknown) => void;
}

/** A caller waiting for a write. */
export class WaitingCaller {
  /** The caller has received, or is about to receive, an error. */
  hasGivenUp = false;
  stopTimer: (() => void) | undefined;
  /** Ends the caller's wait. */
  onGiveUp: () => void;

  constructor(onGiveUp: () => void) {
    this.onGiveUp = onGiveUp;
  }

  giveUp(): void {
    this.hasGivenUp = true;
    this.onGiveUp();
  }

  /**
   * Marks the request as dequeued: from here on, only the write itself reports its result. False if the caller has
   * given up.
   */
  start(): boolean {
    if (!this.hasGivenUp) this.onGiveUp = () => {};
    return !this.hasGivenUp;
  }
}

export function createWriteRetry({ clock, report }: WriteRetryOptions): WriteRetry {
  const endController = new AbortController();
  const callers = new Set<WaitingCaller>();
  /** Number of writes being repeated. */
  let repeated = 0;
  let error: unknown;

  const startTimer = (caller: WaitingCaller): void => {
    caller.stopTimer ??= clock.schedule(CALLER_WAIT_MS, () => caller.giveUp());
  };
  const begin = (cause: unknown): void => {
    if (repeated === 0) report(cause);
    repeated += 1;
    error = cause;
    for (const caller of callers) startTimer(caller);
  };
  const finish = (): void => {
    repeated -= 1;
    if (repeated > 0) return;
    error = undefined;
    for (const caller of callers) {
      caller.stopTimer?.();
      caller.stopTimer = undefined;
    }
  };

  async function repeat<Result>(
    write: () => Promise<Result>,
    caller: WaitingCaller | undefined,
  ): Promise<Result> {
    const callerGone = new AbortController();
    if (caller?.hasGivenUp === true) callerGone.abort();
    else if (caller !== undefined) caller.onGiveUp = () => callerGone.abort();
    const signal = AbortSignal.any([callerGone.signal, endController.signal]);
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
      const last = error;
      await pause(clock, pauseMs, signal).catch(() => {
        throw last;
      });
      try {
        return await write();
      } catch (retryError) {
        if (!isTransientStoreError(retryError)) throw retryError;
        error = retryError;
      }
    }
  }

  return {
    get error() {
      return error;
    },
    async retry(write, caller) {
      try {
        return await write();
      } catch (cause) {
        if (!isTransientStoreError(cause) || endController.signal.aborted) throw cause;
        begin(cause);
      }
      try {
        return await repeat(write, caller);
      } finally {
        finish();
      }
    },
    runForCaller(work) {
      return new Promise((resolve, reject) => {
        const caller = new WaitingCaller(() => reject(error));
        callers.add(caller);
        if (repeated > 0) startTimer(caller);
        void work(caller)
          .then(resolve, reject)
          .finally(() => {
            callers.delete(caller);
            caller.stopTimer?.();
          });
      });
    },
    end() {
      endController.abort();
    },
  };
}

/** Whether a failed write is worth repeating: nothing was written, and the cause may pass. */
export function isTransientStoreError(error: unknown): boolean {
  return error instanceof SpanlineError && TRANSIENT_CODES.has(error.code);
}

const TRANSIENT_CODES: ReadonlySet<ErrorCode> = new Set(["store_full", "store_failed"] as const);

/** Milliseconds a caller waits while the log cannot be written. */
const CALLER_WAIT_MS = 5000;
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5000;
