import { pause } from "../../../async/pause.ts";
import { SpanlineError, type ErrorCode } from "../../../domain/errors.ts";
import type { Clock } from "../../../platform/clock.ts";

/**
 * What a session does while its log cannot be written, as on a full disk: it repeats the write with backoff, so that its
 * turn continues by itself when there is space again. Callers do not wait that long: each gets the error of the store
 * after `CALLER_MS`, and nothing of its request is written later.
 */
export interface WriteRetry {
  /** The error of the last write, while writes are repeated. */
  readonly error: unknown;
  /** Repeats a write until it succeeds. Rejects for an error that does not pass, and when its caller gives up or the stall ends. */
  readonly retry: <Result>(write: () => Promise<Result>, caller?: WaitingCaller) => Promise<Result>;
  /** Runs the work of a caller, which may wait in a queue first. */
  runForCaller<Result>(work: (caller: WaitingCaller) => Promise<Result>): Promise<Result>;
  /** Ends all repetitions: the session is closed here. */
  end(): void;
}

export interface WriteRetryOptions {
  readonly clock: Clock;
  /** Told once for each stall. */
  readonly report: (error: unknown) => void;
}

/** Somebody who waits for a write. */
export class WaitingCaller {
  /** It was told, or is to be told, that its write failed. */
  hasGivenUp = false;
  stopTimer: (() => void) | undefined;
  /** Ends what it waits for. */
  onGiveUp: () => void;

  constructor(onGiveUp: () => void) {
    this.onGiveUp = onGiveUp;
  }

  giveUp(): void {
    this.hasGivenUp = true;
    this.onGiveUp();
  }

  /** Its turn in the queue has come: from here on only the write itself tells how it ended. False if it has given up. */
  start(): boolean {
    if (!this.hasGivenUp) this.onGiveUp = () => {};
    return !this.hasGivenUp;
  }
}

export function createWriteRetry({ clock, report }: WriteRetryOptions): WriteRetry {
  const endController = new AbortController();
  const callers = new Set<WaitingCaller>();
  /** Writes that are being repeated. */
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

/** Whether a write that failed is worth repeating: nothing was written, and the reason may pass. */
export function isTransientStoreError(error: unknown): boolean {
  return error instanceof SpanlineError && TRANSIENT_CODES.has(error.code);
}

const TRANSIENT_CODES: ReadonlySet<ErrorCode> = new Set(["store_full", "store_failed"] as const);

/** How long a caller waits for a log that cannot be written. */
const CALLER_WAIT_MS = 5000;
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5000;
