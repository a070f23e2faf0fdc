import { startBudget, type Budget } from "../async/budget.ts";
import { thrownMessage } from "../domain/errors.ts";
import type { SteadyClock } from "../platform/clock.ts";
import type { Report } from "./report.ts";
import { isConflict, isNotFound } from "./transient.ts";

/** Something that this call made, and how to take it away again. */
export interface Made {
  /** What it is, for people. */
  readonly name: string;
  undo(budget: Budget): Promise<void>;
}

/** Time of its own: what is rolled back is often what used up the time of the call. */
export const ROLLBACK_TIMEOUT = 30_000;

/** Takes away what was made, the newest first. Does what it can and never throws: there is an error on its way already. */
export async function rollBack(
  made: readonly Made[],
  clock: SteadyClock,
  report: Report,
): Promise<void> {
  const budget = startBudget(clock, new AbortController().signal, ROLLBACK_TIMEOUT);
  try {
    for (const one of made.toReversed()) await undo(one, budget, report);
  } finally {
    budget.release();
  }
}

async function undo(made: Made, budget: Budget, report: Report): Promise<void> {
  const { elapsed } = budget;
  report.progress({ harness: made.name, phase: "rollback", status: null, elapsed, polls: 0 });
  try {
    await persistently(made, budget);
  } catch (error) {
    report.warn(`${made.name} could not be deleted and is left behind: ${thrownMessage(error)}`);
  }
}

/** The service deletes nothing that is still being made. */
async function persistently(made: Made, budget: Budget): Promise<void> {
  for (;;) {
    try {
      return await made.undo(budget);
    } catch (error) {
      if (isNotFound(error)) return;
      if (!isConflict(error) || budget.remaining <= BUSY_PAUSE) throw error;
    }
    await budget.pause(BUSY_PAUSE);
  }
}

const BUSY_PAUSE = 2000;
