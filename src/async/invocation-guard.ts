/** What a guard needs of a clock. */
export interface Timer {
  schedule(milliseconds: number, run: () => void): () => void;
}

/** Ends a call when its caller wants that, or when one of its limits is reached, and knows which it was. */
export interface InvocationGuard<Limit extends string> {
  /** To be given to everything that the call waits for. */
  readonly signal: AbortSignal;
  /** The limit that was reached; null when none was. */
  readonly reachedLimit: Limit | null;
  /** Starts waiting for the other side, for so long at most, or without end for `Infinity`. Forgets any wait before. */
  startWait(limit: Limit, milliseconds: number): void;
  /** The other side did its part; how long we take for ours is our affair. */
  stopWait(): void;
  /** The call is over: nothing of the guard is left behind. */
  release(): void;
}

/** `whole` limits all of the call, however it is spent. */
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
