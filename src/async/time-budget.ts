import { guardInvocation, type Timer } from "./invocation-guard.ts";
import { pause } from "./pause.ts";

/** The part of a clock used by a budget. */
export interface TimeBudgetClock extends Timer {
  /** Milliseconds of a monotonic clock: changes of the system time do not affect it. */
  monotonic(): number;
}

/** A shared time limit for an operation made of several calls and pauses. */
export interface TimeBudget {
  /** Pass this signal to every call. Aborts when the time is spent or the caller's signal aborts. */
  readonly signal: AbortSignal;
  /** True if the time ran out. False if the caller aborted. */
  readonly isSpent: boolean;
  readonly elapsed: number;
  readonly remaining: number;
  /** Waits. Rejects with the signal's reason if the signal aborts. */
  pause(milliseconds: number): Promise<void>;
  /** Starts a part of this budget with a shorter limit. The part never has more time than the rest of this budget. */
  withLimit(milliseconds: number): TimeBudget;
  /** Removes the timer and the abort listener. */
  release(): void;
}

export function startTimeBudget(
  clock: TimeBudgetClock,
  caller: AbortSignal,
  milliseconds: number,
): TimeBudget {
  const start = clock.monotonic();
  const guard = guardInvocation(clock, caller, { limit: "whole", milliseconds });
  const elapsed = (): number => clock.monotonic() - start;
  const remaining = (): number => Math.max(0, milliseconds - elapsed());
  return {
    signal: guard.signal,
    get isSpent() {
      return guard.reachedLimit !== null;
    },
    get elapsed() {
      return elapsed();
    },
    get remaining() {
      return remaining();
    },
    pause: (time) => pause(clock, time, guard.signal),
    withLimit: (time) => startTimeBudget(clock, guard.signal, Math.min(time, remaining())),
    release: () => guard.release(),
  };
}
