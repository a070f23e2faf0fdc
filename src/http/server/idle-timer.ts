import type { Clock } from "../../platform/clock.ts";

/** A restartable timeout: calls `onTimeout` when the time between `begin` and `end` exceeds the limit. */
export interface IdleTimer {
  begin(): void;
  end(): void;
  /** Cancels the timer for good. `begin` must not be called again. */
  stop(): void;
}

/**
 * Uses one scheduled callback for all periods, which compares times when it fires. Scheduling and cancelling a callback
 * for each event would cost a stream as much as writing the event.
 */
export function createIdleTimer(
  clock: Clock,
  milliseconds: number,
  onTimeout: () => void,
): IdleTimer {
  let since: number | undefined;
  let callOff: (() => void) | undefined;
  const set = (wait: number): void => {
    callOff = clock.schedule(wait, ring);
  };
  const ring = (): void => {
    callOff = undefined;
    if (since === undefined) return;
    // A clock set back counts as zero elapsed time.
    const elapsedMs = Math.max(0, clock.now() - since);
    if (elapsedMs < milliseconds) return set(milliseconds - elapsedMs);
    since = undefined;
    onTimeout();
  };
  return {
    begin() {
      since = clock.now();
      if (callOff === undefined) set(milliseconds);
    },
    end: () => void (since = undefined),
    stop() {
      since = undefined;
      callOff?.();
    },
  };
}
