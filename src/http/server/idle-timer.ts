import type { Clock } from "../../platform/clock.ts";

/** Tells when something that begins and ends again and again has once taken too long. */
export interface IdleTimer {
  begin(): void;
  end(): void;
  /** It does not begin again. */
  stop(): void;
}

/**
 * One timer for all of them, which looks at the time when it rings: to set and call off one for each event would cost a stream as
 * much as to write it.
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
    // Whoever sets the time back makes it look as if it had just begun.
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
