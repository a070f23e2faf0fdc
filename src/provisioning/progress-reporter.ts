import type { WaitContext } from "./wait-errors.ts";

/** Receives progress and warnings during a wait. */
export interface ProgressReporter {
  /** `failure` is the error of the last poll, which will be retried. Undefined if the poll succeeded. */
  reportProgress(context: WaitContext, failure?: unknown): void;
  /** A problem which did not stop the operation, as a sentence for people. */
  warn(message: string): void;
}

export const NO_REPORTER: ProgressReporter = { reportProgress: () => {}, warn: () => {} };
