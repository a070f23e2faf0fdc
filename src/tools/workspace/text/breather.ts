import { setImmediate } from "node:timers/promises";
import type { SteadyClock } from "../../../platform/clock.ts";

/** Lets others have their turn during long work, and ends it with its signal. */
export interface Breather {
  /** Milliseconds since it began. */
  readonly elapsed: number;
  /** Cheap unless it is time. */
  readonly rest: () => Promise<void> | undefined;
}

export function breather(clock: Pick<SteadyClock, "monotonic">, signal: AbortSignal): Breather {
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
    rest() {
      signal.throwIfAborted();
      return clock.monotonic() - last < LONGEST_MS ? undefined : pause();
    },
  };
}

const LONGEST_MS = 8;
