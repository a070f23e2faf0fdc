import { guardInvocation, type Timer } from "./invocation-guard.ts";
import { pause } from "./pause.ts";

/** What a budget needs of a clock. */
export interface BudgetClock extends Timer {
  /** Milliseconds by a time that nobody sets. */
  monotonic(): number;
}

/** The time that something made of many calls and waits may take, all of them together. */
export interface Budget {
  /** To be given to everything that is waited for: ends with the time, or when the caller wants it. */
  readonly signal: AbortSignal;
  /** Whether the time ran out, rather than the caller's patience. */
  readonly isSpent: boolean;
  readonly elapsed: number;
  readonly remaining: number;
  /** Rejects with the signal's reason when the signal ends it. */
  pause(milliseconds: number): Promise<void>;
  /** A part of the budget with a limit of its own. */
  withLimit(milliseconds: number): Budget;
  /** Nothing of the budget is left behind. */
  release(): void;
}

export function startBudget(clock: BudgetClock, caller: AbortSignal, milliseconds: number): Budget {
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
    withLimit: (time) => startBudget(clock, guard.signal, Math.min(time, remaining())),
    release: () => guard.release(),
  };
}
