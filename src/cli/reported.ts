import { thrownMessage } from "../domain/errors.ts";
import { printable } from "../inspect/style.ts";

/** Something that went wrong beside the work, with what it came from. What one says of another already is said once. */
export function reported(error: unknown): string {
  const said = [thrownMessage(error) || String(error)];
  let cause = error instanceof Error ? error.cause : undefined;
  for (let count = 0; cause !== undefined && count < MOST_CAUSES; count += 1) {
    const message = thrownMessage(cause);
    if (!said.some((one) => one.includes(message))) said.push(message);
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  return `${printable(said.join(": "))}\n`;
}

/** One may be its own. */
const MOST_CAUSES = 5;
