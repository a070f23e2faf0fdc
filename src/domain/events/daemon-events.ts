/** Events of the slice `daemon`: an agent which waits for activity between its turns. */
export type DaemonEvent = DaemonWoken | DaemonStopped;

/** An idle daemon starts a turn. */
export interface DaemonWoken {
  readonly type: "daemon.woken";
  readonly reason: WakeReason;
}

/** If several apply, the first in this order is recorded. */
export type WakeReason = "message" | "resume" | "reminder" | "timer";

/** The daemon waited for its whole idle time without activity. The next message starts a turn as for any agent. */
export interface DaemonStopped {
  readonly type: "daemon.stopped";
  readonly reason: "watchdog";
  /** Number of waits on the ladder without activity. */
  readonly attempts: number;
  readonly elapsedMs: number;
}
