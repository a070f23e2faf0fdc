import { toDiskFullError, SpanlineError, formatThrown } from "../../domain/errors.ts";
import { escapeControls } from "../../inspect/trace-style.ts";

/**
 * Formats an error of background work with its causes on one line. A cause is omitted if an earlier message already
 * contains its text.
 */
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

/** Limit for cyclic cause chains. */
const MAX_CAUSES = 5;
