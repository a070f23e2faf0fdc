import { setImmediate } from "node:timers/promises";
import type { SteadyClock } from "../../../platform/clock.ts";

/** Lets others have their turn during long work, and ends it with its signal. */
export interface LoopPacer {
  /** Milliseconds since it began. */
  readonly elapsed: number;
  /** Cheap unless it is time. */
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
