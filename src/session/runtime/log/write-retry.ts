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

export function createWriteRetry(options: WriteRetryOptions): WriteRetry {
  return new StallingWrites(options);
}

class StallingWrites implements WriteRetry {
  readonly #options: WriteRetryOptions;
  readonly #endController = new AbortController();
  readonly #callers = new Set<WaitingCaller>();
  /** Number of writes being repeated. */
  #repeated = 0;
  #error: unknown;

  constructor(options: WriteRetryOptions) {
    this.#options = options;
  }

  get error(): unknown {
    return this.#error;
  }

  // An arrow function, because it is passed on without its object.
  readonly retry: WriteRetry["retry"] = async (write, caller) => {
    try {
      return await write();
    } catch (cause) {
      if (!isTransientStoreError(cause) || this.#endController.signal.aborted) throw cause;
      this.#begin(cause);
    }
    try {
      return await this.#repeat(write, caller);
    } finally {
      this.#finish();
    }
  };

  runForCaller<Result>(work: (caller: WaitingCaller) => Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      const caller = new WaitingCaller(() => reject(this.#error));
      this.#callers.add(caller);
      if (this.#repeated > 0) this.#startTimer(caller);
      void work(caller)
        .then(resolve, reject)
        .finally(() => {
          this.#callers.delete(caller);
          caller.stopTimer?.();
        });
    });
  }

  end(): void {
    this.#endController.abort();
  }

  async #repeat<Result>(
    write: () => Promise<Result>,
    caller: WaitingCaller | undefined,
  ): Promise<Result> {
    const callerGone = new AbortController();
    if (caller?.hasGivenUp === true) callerGone.abort();
    else if (caller !== undefined) caller.onGiveUp = () => callerGone.abort();
    const signal = AbortSignal.any([callerGone.signal, this.#endController.signal]);
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
      const last = this.#error;
      await pause(this.#options.clock, pauseMs, signal).catch(() => {
        throw last;
      });
      try {
        return await write();
      } catch (retryError) {
        if (!isTransientStoreError(retryError)) throw retryError;
        this.#error = retryError;
      }
    }
  }

  #begin(cause: unknown): void {
    if (this.#repeated === 0) this.#options.report(cause);
    this.#repeated += 1;
    this.#error = cause;
    for (const caller of this.#callers) this.#startTimer(caller);
  }

  #finish(): void {
    this.#repeated -= 1;
    if (this.#repeated > 0) return;
    this.#error = undefined;
    for (const caller of this.#callers) {
      caller.stopTimer?.();
      caller.stopTimer = undefined;
    }
  }

  #startTimer(caller: WaitingCaller): void {
    const { clock } = this.#options;
    caller.stopTimer ??= clock.schedule(CALLER_WAIT_MS, () => caller.giveUp());
  }
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
