import { toDiskFullError, SpanlineError, formatThrown } from "../../domain/errors.ts";
import { escapeControls } from "../../inspect/trace-style.ts";

/** Something that went wrong beside the work, with what it came from. What one says of another already is said once. */
export function formatErrorChain(thrown: unknown): string {
  const error = toDiskFullError(thrown) ?? thrown;
  const messages = [formatThrown(error) || String(error)];
  let cause = readCause(error);
  for (let count = 0; cause !== undefined && count < MAX_CAUSES; count += 1) {
    const message = formatThrown(cause);
    if (!messages.some((earlier) => earlier.includes(message))) messages.push(message);
    cause = readCause(cause);
  }
  return `${escapeControls(messages.join(": "))}\n`;
}

/** Undefined for an error of the database: its message names the reason and the fix, and its cause is text of SQLite. */
function readCause(error: unknown): unknown {
  if (!(error instanceof Error)) return undefined;
  const isComplete =
    error instanceof SpanlineError &&
    (error.code === "store_full" || error.details["sqlite"] !== undefined);
  return isComplete ? undefined : error.cause;
}

/** One may be its own. */
const MAX_CAUSES = 5;
