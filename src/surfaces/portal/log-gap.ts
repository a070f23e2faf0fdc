import { SpanlineError } from "../../domain/errors.ts";

/** Missing or unreadable events of a log, by their first and last `seq`. */
export interface LogGap {
  readonly seq: number;
  readonly through: number;
}

/** Returns the gap at which a reader of the log stopped. Undefined for any other error. */
export function findLogGap(error: unknown): LogGap | undefined {
  if (!(error instanceof SpanlineError) || error.code !== "store_damaged") return undefined;
  const { seq, through } = error.details;
  return typeof seq === "number" && typeof through === "number" ? { seq, through } : undefined;
}

export function formatLogGap({ seq, through }: LogGap): string {
  const events =
    seq === through ? `Event ${seq} of the log is` : `Events ${seq} to ${through} of the log are`;
  return `${events} missing or cannot be read. Fix: see spanline sessions check`;
}
