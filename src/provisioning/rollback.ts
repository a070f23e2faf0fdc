import { startBudget, type Budget } from "../async/budget.ts";
import { formatThrown } from "../domain/errors.ts";
import type { SteadyClock } from "../platform/clock.ts";
import type { ProgressReporter } from "./progress-reporter.ts";
import { isConflict, isNotFound } from "./transient.ts";

/** Something that this call made, and how to take it away again. */
export interface UndoStep {
  /** What it is, for people. */
  readonly name: string;
  undo(budget: Budget): Promise<void>;
}

/** Time of its own: what is rolled back is often what used up the time of the call. */
export const ROLLBACK_TIMEOUT_MS = 30_000;

/** Takes away what was made, the newest first. Does what it can and never throws: there is an error on its way already. */
export async function rollBack(
  undoSteps: readonly UndoStep[],
  clock: SteadyClock,
  report: ProgressReporter,
): Promise<void> {
  const budget = startBudget(clock, new AbortController().signal, ROLLBACK_TIMEOUT_MS);
  try {
    for (const step of undoSteps.toReversed()) await undoStep(step, budget, report);
  } finally {
    budget.release();
  }
}

async function undoStep(step: UndoStep, budget: Budget, report: ProgressReporter): Promise<void> {
  const { elapsed } = budget;
  report.reportProgress({ harness: step.name, phase: "rollback", status: null, elapsed, polls: 0 });
  try {
    await undoWithRetry(step, budget);
  } catch (error) {
    report.warn(`${step.name} could not be deleted and is left behind: ${formatThrown(error)}`);
  }
}

/** The service deletes nothing that is still being made. */
async function undoWithRetry(step: UndoStep, budget: Budget): Promise<void> {
  for (;;) {
    try {
      return await step.undo(budget);
    } catch (error) {
      if (isNotFound(error)) return;
      if (!isConflict(error) || budget.remaining <= BUSY_PAUSE_MS) throw error;
    }
    await budget.pause(BUSY_PAUSE_MS);
  }
}

const BUSY_PAUSE_MS = 2000;
