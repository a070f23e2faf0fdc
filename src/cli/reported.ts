import { thrownMessage } from "../domain/errors.ts";
import { printable } from "../inspect/style.ts";

/** Something that went wrong beside the work, with what it came from. */
export function reported(error: unknown): string {
  const causes: string[] = [];
  let cause = error instanceof Error ? error.cause : undefined;
  while (cause !== undefined && causes.length < MOST_CAUSES) {
    causes.push(thrownMessage(cause));
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  return `${printable([String(error), ...causes].join(": "))}\n`;
}

/** One may be its own. */
const MOST_CAUSES = 5;
