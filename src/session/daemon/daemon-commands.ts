import { computeWatchdogMs } from "../../domain/daemon.ts";
import type { WakeReason } from "../../domain/events/daemon-events.ts";
import type { CommandReply } from "../../domain/session-command.ts";
import { readAgentSpec, type Decision } from "../decision.ts";
import { refuse } from "../refuse-command.ts";

/** Wakes an idle daemon. Accepted without effect during a turn: the daemon is awake. */
export function resumeDaemon(decision: Decision): CommandReply {
  if (readAgentSpec(decision).daemon === undefined) {
    const message =
      'The agent is not a daemon. Fix: set "daemon" in its definition, or send a prompt';
    return refuse("conflict", message, { reason: "not_a_daemon" });
  }
  if (decision.state.turn.current === null) recordWake(decision, "resume");
  return { status: "accepted" };
}

/** Records why an idle daemon wakes. For other agents, and for workers, no event is emitted. */
export function recordWake(decision: Decision, reason: WakeReason): void {
  if (readAgentSpec(decision).daemon === undefined || decision.state.lineage !== null) return;
  decision.emit({ type: "daemon.woken", reason });
}

/** Wakes an idle daemon after its wake interval, or stops the daemon after the time of its watchdog. */
export function applyDaemonDeadline(decision: Decision): void {
  const { idleSince } = decision.state.daemon;
  const spec = decision.state.agent?.spec.daemon;
  if (idleSince === null || spec === undefined) return;
  const elapsedMs = decision.at - idleSince;
  if (spec.wakeIntervalMs !== undefined && elapsedMs >= spec.wakeIntervalMs)
    return recordWake(decision, "timer");
  const { watchdogAttempts: attempts = 0 } = spec;
  if (elapsedMs >= (computeWatchdogMs(spec) ?? Infinity))
    decision.emit({ type: "daemon.stopped", reason: "watchdog", attempts, elapsedMs });
}
