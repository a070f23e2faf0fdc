import { setImmediate } from "node:timers/promises";
import type { SteadyClock } from "../../../platform/clock.ts";

/** Yields to the event loop during long work, and stops the work when the signal aborts. */
export interface LoopPacer {
  /** Milliseconds since the start. */
  readonly elapsed: number;
  /**
   * Returns undefined, at little cost, unless 8 ms have passed since the last yield. Throws if the signal is aborted.
   */
  readonly yieldToLoop: () => Promise<void> | undefined;
}

export function createLoopPacer(
  clock: Pick<SteadyClock, "monotonic">,
  signal: AbortSignal,
): LoopPacer {
  const start = clock.monotonic();
  let last = start;
  const pause = async (): Promise<void> => {
    await setImmediate();
    last = clock.monotonic();
    signal.throwIfAborted();
  };
  return {
    get elapsed() {
      return clock.monotonic() - start;
    },
    yieldToLoop() {
      signal.throwIfAborted();
      return clock.monotonic() - last < MAX_BLOCK_MS ? undefined : pause();
    },
  };
}

const MAX_BLOCK_MS = 8;
