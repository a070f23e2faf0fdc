import { startBudget, type Budget } from "../async/budget.ts";
import { formatThrown } from "../domain/errors.ts";
import type { SteadyClock } from "../platform/clock.ts";
import type { ProgressReporter } from "./progress-reporter.ts";
import { isConflict, isNotFound } from "./transient.ts";

/** A resource created by this call, and how to delete it. */
export interface UndoStep {
  /** The resource, for messages. */
  readonly name: string;
  undo(budget: Budget): Promise<void>;
}

/** A separate time limit: the failure is often that the call's own time is used up. */
export const ROLLBACK_TIMEOUT_MS = 30_000;

/** Deletes created resources, newest first. Best effort, and never throws: an error is already being reported. */
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
    report.warn(`${step.name} could not be deleted and remains: ${formatThrown(error)}`);
  }
}

/** The service refuses to delete a resource which is still being created, so conflicts are retried. */
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

/** Between two attempts to delete a resource which is still being created. */
const BUSY_PAUSE_MS = 2000;
