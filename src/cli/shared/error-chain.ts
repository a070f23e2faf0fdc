import { formatThrown } from "../../domain/errors.ts";
import { escapeControls } from "../../inspect/trace-style.ts";

/** Something that went wrong beside the work, with what it came from. What one says of another already is said once. */
export function formatErrorChain(error: unknown): string {
  const messages = [formatThrown(error) || String(error)];
  let cause = error instanceof Error ? error.cause : undefined;
  for (let count = 0; cause !== undefined && count < MAX_CAUSES; count += 1) {
    const message = formatThrown(cause);
    if (!messages.some((earlier) => earlier.includes(message))) messages.push(message);
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  return `${escapeControls(messages.join(": "))}\n`;
}

/** One may be its own. */
const MAX_CAUSES = 5;
