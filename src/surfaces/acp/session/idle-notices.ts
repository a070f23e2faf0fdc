import { computeIdleWait, type DaemonSpec } from "../../../domain/daemon.ts";
import type { Clock } from "../../../platform/clock.ts";

/** Notifies a bridge host while a daemon is idle. The notifications are not logged, because they do not change the session. */
export interface IdleNotices {
  /** Starts again at the first step of the ladder. Undefined: the daemon is no longer idle. */
  restart(daemon: DaemonSpec | undefined): void;
  stop(): void;
}

export interface IdleNotice {
  /** The number of this wait, from 1. */
  readonly iteration: number;
  /** Milliseconds until the next notification. */
  readonly backoffMs: number;
}

/** `send` is called at the start of every wait. */
export function createIdleNotices(clock: Clock, send: (notice: IdleNotice) => void): IdleNotices {
  let cancelTimer = (): void => {};
  const wait = (daemon: DaemonSpec, iteration: number): void => {
    const backoffMs = computeIdleWait(daemon, iteration);
    cancelTimer = clock.schedule(backoffMs, () => wait(daemon, iteration + 1));
    send({ iteration, backoffMs });
  };
  return {
    restart(daemon) {
      cancelTimer();
      if (daemon !== undefined) wait(daemon, 1);
    },
    stop: () => cancelTimer(),
  };
}
