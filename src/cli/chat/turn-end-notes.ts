import { toSpanlineError, SpanlineError, formatThrown } from "../../domain/errors.ts";
import type { TurnEndInfo } from "../../host/index.ts";
import { toSingleLine } from "../../inspect/trace-style.ts";
import type { ChatSession, ChatTurnEnd } from "./session.ts";

/** How a turn ended of which this chat gets no answer; undefined where it does. */
export function readTurnEnd(
  { clientId, end }: TurnEndInfo,
  session: ChatSession | undefined,
): ChatTurnEnd | undefined {
  if (session?.isPrompting === true && session.clientId === clientId) return undefined;
  return end.type === "done" ? end : { type: "failed", error: toSpanlineError(end.failure) };
}

export interface TurnEndNote {
  readonly text: string;
  readonly paint: "warn" | "bad";
}

/** How a turn ended, where that has to be said. */
export function formatTurnEnd(end: ChatTurnEnd): TurnEndNote | undefined {
  switch (end.type) {
    case "lost":
      return { text: CONNECTION_LOST_NOTE, paint: "warn" };
    case "failed":
      return { text: `✗ ${formatError(end.error)}`, paint: "bad" };
    case "done": {
      const { reason } = end.result;
      if (reason === "end_turn") return undefined;
      return {
        text: STOP_REASON_TEXTS.get(reason) ?? `Ended: ${toSingleLine(reason)}`,
        paint: "warn",
      };
    }
  }
}

const CONNECTION_LOST_NOTE = "The connection was lost meanwhile; what comes of it is shown here.";

const STOP_REASON_TEXTS: ReadonlyMap<string, string> = new Map([
  ["cancelled", "Cancelled."],
  ["max_tokens", "Stopped: the answer was as long as it may be."],
  ["max_turn_requests", "Stopped: a limit of this turn was reached."],
  ["refusal", "The agent refused to go on."],
]);

export function formatError(error: unknown): string {
  const message = toSingleLine(formatThrown(error));
  const isDenied = error instanceof SpanlineError && error.code === "access_denied";
  // There are other reasons, such as a configuration that nobody trusts.
  return isDenied && /\brights?\b/.test(message)
    ? `${message} (that takes the bridge's token, or a key that allows it)`
    : message;
}
