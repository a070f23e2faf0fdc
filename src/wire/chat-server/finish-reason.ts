import type { TurnFinished } from "../../domain/events/session-event.ts";
import { createChatError, type ChatError, type FinishReason } from "./chat-chunk.ts";

/** Why a turn ended, as a client of chat completions knows it; an error where it has no word for that. */
export function toFinishReason(turn: TurnFinished): FinishReason | ChatError {
  switch (turn.outcome) {
    case "completed":
      return "stop";
    case "limited":
      return FILTER_REASONS.has(turn.reason ?? "") ? "content_filter" : "length";
    case "cancelled":
      return createChatError("cancelled", "The turn was cancelled before it ended");
    case "failed": {
      const { failure, reason } = turn;
      const message = `The turn failed${reason === null ? "" : `: ${reason}`}`;
      return createChatError(failure?.code ?? "agent_failed", failure?.message ?? message);
    }
  }
}

const FILTER_REASONS: ReadonlySet<string> = new Set(["content_filtered", "guardrail_intervened"]);
