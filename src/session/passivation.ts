import type { SteadyClock } from "../platform/clock.ts";
import type { Driver } from "./driver.ts";
import type { SessionState } from "./state.ts";

export interface PassivationOptions {
  readonly clock: SteadyClock;
  readonly idleMs: number;
  /** Those that are in memory. What is let go is taken out. */
  readonly drivers: Map<string, Promise<Driver>>;
}

/** Lets sessions go from memory that nobody uses. */
export interface Passivation {
  /** To be said before the session is asked for. */
  used(sessionId: string): void;
  /** It could not be taken up, or is deleted. */
  forget(sessionId: string): void;
  stop(): void;
}

export function passivation({ clock, idleMs, drivers }: PassivationOptions): Passivation {
  const lastUsed = new Map<string, number>();
  let stopTimer: (() => void) | undefined;
  let isStopped = false;

  const sweep = async (): Promise<void> => {
    stopTimer = undefined;
    const isIdle = (sessionId: string, patience = idleMs): boolean =>
      clock.monotonic() - (lastUsed.get(sessionId) ?? 0) >= patience;
    for (const [sessionId, started] of drivers) {
      if (!isIdle(sessionId)) continue;
      const driver = await started.catch(() => undefined);
      if (driver === undefined) continue;
      if (!isQuiet(driver.state)) {
        // It is used, though nobody asks anything of it: a turn may take longer than a session is kept.
        lastUsed.set(sessionId, clock.monotonic());
        continue;
      }
      // Somebody may have asked for it meanwhile; from here on nobody can.
      if (drivers.get(sessionId) !== started || !isIdle(sessionId, driver.idleMs)) continue;
      drivers.delete(sessionId);
      lastUsed.delete(sessionId);
      await driver.close();
    }
    for (const sessionId of lastUsed.keys())
      if (!drivers.has(sessionId)) lastUsed.delete(sessionId);
    if (drivers.size > 0) schedule();
  };
  const schedule = (): void => {
    if (!isStopped) stopTimer ??= clock.after(idleMs, () => void sweep());
  };

  return {
    used(sessionId) {
      lastUsed.set(sessionId, clock.monotonic());
      schedule();
    },
    forget(sessionId) {
      lastUsed.delete(sessionId);
    },
    stop() {
      isStopped = true;
      stopTimer?.();
      stopTimer = undefined;
    },
  };
}

/** Nothing runs, nothing waits, nobody is there. */
function isQuiet({ turn, tools, approvals, clients }: SessionState): boolean {
  const isResting = turn.current === null && turn.queue.length === 0 && tools.programs.length === 0;
  return isResting && approvals.pending.length === 0 && clients.attached.length === 0;
}
