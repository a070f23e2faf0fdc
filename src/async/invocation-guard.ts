/** The part of a clock used by a guard. */
export interface Timer {
  schedule(milliseconds: number, run: () => void): () => void;
}

/** Aborts an invocation when its caller aborts or a limit is reached, and reports which limit was reached. */
export interface InvocationGuard<Limit extends string> {
  /** Pass this signal to every operation of the invocation. */
  readonly signal: AbortSignal;
  /** Null if no limit was reached, or if the caller aborted. */
  readonly reachedLimit: Limit | null;
  /** Starts a timeout for the other side. `Infinity` means no timeout. Replaces the previous timeout. */
  startWait(limit: Limit, milliseconds: number): void;
  /** Stops the timeout, because the other side has responded. Our own processing time does not count. */
  stopWait(): void;
  /** Ends the guard and removes its timers and its abort listener. */
  release(): void;
}

/** Creates a guard. `total` limits the whole invocation, including our own processing time. */
export function guardInvocation<Limit extends string>(
  timer: Timer,
  caller: AbortSignal,
  total: { readonly limit: Limit; readonly milliseconds: number },
): InvocationGuard<Limit> {
  const controller = new AbortController();
  let reachedLimit: Limit | null = null;
  let stopWaiting = noop;

  const start = (limit: Limit, milliseconds: number): (() => void) => {
    if (milliseconds === Infinity) return noop;
    return timer.schedule(milliseconds, () => {
      reachedLimit ??= limit;
      stopTimers();
      controller.abort();
    });
  };
  let stopTotal = noop;
  const stopTimers = (): void => {
    stopWaiting();
    stopTotal();
  };
  const abortByCaller = (): void => {
    stopTimers();
    controller.abort(caller.reason);
  };
  if (caller.aborted) abortByCaller();
  else {
    caller.addEventListener("abort", abortByCaller, { once: true });
    stopTotal = start(total.limit, total.milliseconds);
  }

  return {
    signal: controller.signal,
    get reachedLimit() {
      return caller.aborted ? null : reachedLimit;
    },
    startWait(limit, milliseconds) {
      stopWaiting();
      stopWaiting = controller.signal.aborted ? noop : start(limit, milliseconds);
    },
    stopWait() {
      stopWaiting();
      stopWaiting = noop;
    },
    release() {
      stopTimers();
      caller.removeEventListener("abort", abortByCaller);
    },
  };
}

function noop(): void {}
