import { SpanlineError, thrownMessage } from "../domain/errors.ts";
import { oneLine, type Style } from "../inspect/style.ts";
import type { TurnEnd } from "./chat-talk.ts";

/** How a turn ended, where that has to be said. */
export function endText(end: TurnEnd, style: Style): string | undefined {
  switch (end.type) {
    case "lost":
      return style.warn("The connection was lost meanwhile; what comes of it is shown here.");
    case "failed":
      return style.bad(`✗ ${complaintOf(end.error)}`);
    case "done": {
      const { reason } = end.result;
      if (reason === "end_turn") return undefined;
      return style.warn(ENDS.get(reason) ?? `Ended: ${oneLine(reason)}`);
    }
  }
}

const ENDS: ReadonlyMap<string, string> = new Map([
  ["cancelled", "Cancelled."],
  ["max_tokens", "Stopped: the answer was as long as it may be."],
  ["max_turn_requests", "Stopped: a limit of this turn was reached."],
  ["refusal", "The agent refused to go on."],
]);

export function complaintOf(error: unknown): string {
  const message = oneLine(thrownMessage(error));
  return error instanceof SpanlineError && error.code === "access_denied"
    ? `${message} (your key does not allow it)`
    : message;
}
