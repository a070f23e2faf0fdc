/** Settings of an agent which stays available between turns and announces that it is idle. */
export interface DaemonSpec {
  /** Milliseconds after which an idle daemon starts a turn by itself. Absent: only activity wakes it. */
  readonly wakeIntervalMs?: number;
  /** Number of waits without activity after which the daemon stops. Absent, or with `wakeIntervalMs`: it never stops. */
  readonly watchdogAttempts?: number;
}

/** The ladder: milliseconds of the first waits of an idle daemon. All later waits are as long as the last. */
const IDLE_LADDER_MS = [100, 500, 1000, 2000] as const;

/** Returns the length of an idle daemon's wait, counted from 1. */
export function computeIdleWait({ wakeIntervalMs }: DaemonSpec, iteration: number): number {
  if (wakeIntervalMs !== undefined) return wakeIntervalMs;
  const index = Math.min(iteration, IDLE_LADDER_MS.length) - 1;
  return IDLE_LADDER_MS[index] ?? IDLE_LADDER_MS[0];
}

/** Returns the time an idle daemon waits before it stops. Undefined if it never stops: a timer wakes it in time. */
export function computeWatchdogMs(spec: DaemonSpec): number | undefined {
  const { watchdogAttempts, wakeIntervalMs } = spec;
  if (watchdogAttempts === undefined || wakeIntervalMs !== undefined) return undefined;
  const laddered = Math.min(watchdogAttempts, IDLE_LADDER_MS.length);
  let total = (watchdogAttempts - laddered) * computeIdleWait(spec, IDLE_LADDER_MS.length);
  for (let iteration = 1; iteration <= laddered; iteration += 1)
    total += computeIdleWait(spec, iteration);
  return total;
}
