import type { WaitContext } from "./wait-errors.ts";

/** Told of what happens while somebody waits. */
export interface ProgressReporter {
  /** `failure` is what the last question came to when it came to nothing; it will be asked again. */
  reportProgress(context: WaitContext, failure?: unknown): void;
  /** Something that did not stop the call, in a sentence for people. */
  warn(message: string): void;
}

export const NO_REPORTER: ProgressReporter = { reportProgress: () => {}, warn: () => {} };
