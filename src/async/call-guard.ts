/** What a guard needs of a clock. */
export interface Timer {
  after(milliseconds: number, run: () => void): () => void;
}

/** Ends a call when its caller wants that, or when one of its limits is reached, and knows which it was. */
export interface CallGuard<Limit extends string> {
  /** To be given to everything that the call waits for. */
  readonly signal: AbortSignal;
  /** The limit that was reached; null when none was. */
  readonly reached: Limit | null;
  /** Starts waiting for the other side, for so long at most, or without end for `Infinity`. Forgets any wait before. */
  wait(limit: Limit, milliseconds: number): void;
  /** The other side did its part; how long we take for ours is our affair. */
  rest(): void;
  /** The call is over: nothing of the guard is left behind. */
  release(): void;
}

/** `whole` limits all of the call, however it is spent. */
export function guardCall<Limit extends string>(
  timer: Timer,
  caller: AbortSignal,
  whole: { readonly limit: Limit; readonly milliseconds: number },
): CallGuard<Limit> {
  const controller = new AbortController();
  let reached: Limit | null = null;
  let stopWaiting = nothing;

  const start = (limit: Limit, milliseconds: number): (() => void) => {
    if (milliseconds === Infinity) return nothing;
    return timer.after(milliseconds, () => {
      reached ??= limit;
      stopTimers();
      controller.abort();
    });
  };
  let stopWhole = nothing;
  const stopTimers = (): void => {
    stopWaiting();
    stopWhole();
  };
  const endByCaller = (): void => {
    stopTimers();
    controller.abort(caller.reason);
  };
  if (caller.aborted) endByCaller();
  else {
    caller.addEventListener("abort", endByCaller, { once: true });
    stopWhole = start(whole.limit, whole.milliseconds);
  }

  return {
    signal: controller.signal,
    get reached() {
      return caller.aborted ? null : reached;
    },
    wait(limit, milliseconds) {
      stopWaiting();
      stopWaiting = controller.signal.aborted ? nothing : start(limit, milliseconds);
    },
    rest() {
      stopWaiting();
      stopWaiting = nothing;
    },
    release() {
      stopTimers();
      caller.removeEventListener("abort", endByCaller);
    },
  };
}

function nothing(): void {}
