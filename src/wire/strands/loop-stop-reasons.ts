import type { Outcome } from "../../domain/provider/provider-event.ts";
import { resolveOutcome } from "../converse/stop-reasons.ts";

/** What Strands says of its own loop, beside the reasons of the model. */
const LOOP_OUTCOMES: ReadonlyMap<string, Outcome> = new Map<string, Outcome>([
  ["cancelled", "limited"],
  ["checkpoint", "limited"],
  ["interrupt", "limited"],
  ["limit_turns", "limited"],
  ["limit_output_tokens", "limited"],
  ["limit_total_tokens", "limited"],
  ["pause_turn", "limited"],
  ["refusal", "limited"],
]);

/** `tool_use` as the last word of a loop that is done means that a tool ended it, as structured output does. */
export function resolveLoopOutcome(reason: string | null, openToolCallCount: number): Outcome {
  if (reason === null) return "completed";
  if (reason === "tool_use") return openToolCallCount > 0 ? "action-required" : "completed";
  return LOOP_OUTCOMES.get(reason) ?? resolveOutcome(reason);
}

/** Strands TS writes `endTurn` where everybody else writes `end_turn`. */
export function toSnakeCase(reason: string): string {
  if (reason.length > MAX_REASON_LENGTH) return reason;
  return reason.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** No reason is longer; what is, is not rewritten letter by letter. */
const MAX_REASON_LENGTH = 256;
