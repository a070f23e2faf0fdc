import { computeWatchdogMs, type DaemonSpec } from "../../domain/daemon.ts";
import type { WakeReason } from "../../domain/events/daemon-events.ts";
import type { Draft } from "../../domain/events/envelope.ts";

export interface DaemonState {
  /** Time of the last activity between two turns. Null before the first turn, during a turn, and after a stop. */
  readonly idleSince: number | null;
  /** Why the next turn starts without a prompt. Null if no wake is pending. */
  readonly wake: WakeReason | null;
}

export const initialDaemon: DaemonState = { idleSince: null, wake: null };

/** Folds the events of every agent; only an agent with daemon settings acts on the state. */
export function evolveDaemon(daemon: DaemonState, { event, at }: Draft): DaemonState {
  switch (event.type) {
    case "turn.finished":
      return { idleSince: at, wake: null };
    case "reminder.queued":
      return daemon.idleSince === null ? daemon : { ...daemon, idleSince: at };
    case "daemon.woken":
      return { ...daemon, wake: event.reason };
    case "turn.started":
    case "daemon.stopped":
      return initialDaemon;
    default:
      return daemon;
  }
}

/**
 * Returns the time at which an idle daemon wakes by itself or stops, whichever comes first. Null without such a time.
 */
export function findDaemonDeadline({ idleSince }: DaemonState, spec: DaemonSpec): number | null {
  if (idleSince === null) return null;
  const waits = [spec.wakeIntervalMs, computeWatchdogMs(spec)].filter((ms) => ms !== undefined);
  return waits.length === 0 ? null : idleSince + Math.min(...waits);
}
