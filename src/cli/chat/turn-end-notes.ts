import { toSpanlineError, SpanlineError, formatThrown } from "../../domain/errors.ts";
import type { TurnEndInfo } from "../../host/index.ts";
import { toSingleLine } from "../../inspect/trace-style.ts";
import type { ChatSession, ChatTurnEnd } from "./session.ts";

/**
 * Returns the end of a turn that was not prompted by this chat. Undefined for a turn of this chat, whose prompt returns
 * the end itself.
 */
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

/** Formats the end of a turn. Undefined for a regular end. */
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

const CONNECTION_LOST_NOTE =
  "The connection was lost meanwhile; the rest of the turn is shown here.";

const STOP_REASON_TEXTS: ReadonlyMap<string, string> = new Map([
  ["cancelled", "Cancelled."],
  ["max_tokens", "Stopped: the answer reached its maximum length."],
  ["max_turn_requests", "Stopped: a limit of this turn was reached."],
  ["refusal", "The agent refused to continue."],
]);

export function formatError(error: unknown): string {
  const message = toSingleLine(formatThrown(error));
  const isDenied = error instanceof SpanlineError && error.code === "access_denied";
  // Other causes exist, such as an untrusted configuration.
  return isDenied && /\brights?\b/.test(message)
    ? `${message} (this requires the bridge's token, or a key with this right)`
    : message;
}
