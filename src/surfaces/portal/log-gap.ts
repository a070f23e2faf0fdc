import { SpanlineError } from "../../domain/errors.ts";
import type { Cursor } from "../../domain/events/envelope.ts";
import { cursorText } from "./cursor-text.ts";

/** Events of a log that are missing or cannot be read, by their first and last `seq`. */
export interface LogGap {
  readonly seq: number;
  readonly through: number;
}

/** Returns the gap at which a reader of the log stopped. Undefined for any other error. */
export function findGap(error: unknown): LogGap | undefined {
  if (!(error instanceof SpanlineError) || error.code !== "store_damaged") return undefined;
  const { seq, through } = error.details;
  return typeof seq === "number" && typeof through === "number" ? { seq, through } : undefined;
}

/**
 * The frame in place of the missing events. Its id is the cursor behind the gap, so a resuming reader gets the frame
 * only once.
 */
export function gapFrame({ seq, through }: LogGap, incarnation: Cursor["incarnation"]): string {
  const events =
    seq === through ? `Event ${seq} of the log is` : `Events ${seq} to ${through} of the log are`;
  const message = `${events} missing or cannot be read. Fix: see spanline sessions check`;
  const data = JSON.stringify({
    error: { code: "store_damaged", message, details: { seq, through } },
  });
  return `id: ${cursorText({ incarnation, seq: through })}\nevent: gap\ndata: ${data}\n\n`;
}
