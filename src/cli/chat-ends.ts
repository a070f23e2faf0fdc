import { errorFrom, SpanlineError, thrownMessage } from "../domain/errors.ts";
import type { SeenTurnEnd } from "../host/index.ts";
import { oneLine } from "../inspect/style.ts";
import type { ChatTalk, TurnEnd } from "./chat-talk.ts";

/** How a turn ended of which this chat gets no answer; undefined where it does. */
export function toldEnd(
  { clientId, end }: SeenTurnEnd,
  talk: ChatTalk | undefined,
): TurnEnd | undefined {
  if (talk?.isPrompting === true && talk.clientId === clientId) return undefined;
  return end.type === "done" ? end : { type: "failed", error: errorFrom(end.failure) };
}

export interface EndNote {
  readonly text: string;
  readonly paint: "warn" | "bad";
}

/** How a turn ended, where that has to be said. */
export function endNote(end: TurnEnd): EndNote | undefined {
  switch (end.type) {
    case "lost":
      return { text: LOST, paint: "warn" };
    case "failed":
      return { text: `✗ ${complaintOf(end.error)}`, paint: "bad" };
    case "done": {
      const { reason } = end.result;
      if (reason === "end_turn") return undefined;
      return { text: ENDS.get(reason) ?? `Ended: ${oneLine(reason)}`, paint: "warn" };
    }
  }
}

const LOST = "The connection was lost meanwhile; what comes of it is shown here.";

const ENDS: ReadonlyMap<string, string> = new Map([
  ["cancelled", "Cancelled."],
  ["max_tokens", "Stopped: the answer was as long as it may be."],
  ["max_turn_requests", "Stopped: a limit of this turn was reached."],
  ["refusal", "The agent refused to go on."],
]);

export function complaintOf(error: unknown): string {
  const message = oneLine(thrownMessage(error));
  const isDenied = error instanceof SpanlineError && error.code === "access_denied";
  // There are other reasons, such as a configuration that nobody trusts.
  return isDenied && /\brights?\b/.test(message)
    ? `${message} (that takes the bridge's token, or a key that allows it)`
    : message;
}
