/** Creates signals that abort together with a shared signal. */
export interface SharedAbort {
  /** Returns a signal that aborts with `signal` or the shared signal. `leave` removes the signal from both. */
  join(signal: AbortSignal): { readonly signal: AbortSignal; readonly leave: () => void };
}

/**
 * For a shared signal with the lifetime of the process. `AbortSignal.any` does the same, but in Node 20 every signal
 * created by it leaves an entry on its sources: a memory leak.
 */
export function createSharedAbort(shared: AbortSignal): SharedAbort {
  const joined = new Set<AbortController>();
  shared.addEventListener(
    "abort",
    () => {
      for (const controller of joined) controller.abort(shared.reason);
      joined.clear();
    },
    { once: true },
  );
  return {
    join(signal) {
      const controller = new AbortController();
      const abort = (): void => {
        leave();
        controller.abort(signal.reason);
      };
      const leave = (): void => {
        joined.delete(controller);
        signal.removeEventListener("abort", abort);
      };
      const source = [signal, shared].find(({ aborted }) => aborted);
      if (source !== undefined) controller.abort(source.reason);
      else {
        joined.add(controller);
        signal.addEventListener("abort", abort, { once: true });
      }
      return { signal: controller.signal, leave };
    },
  };
}
