import type { Outcome } from "../../domain/provider/provider-event.ts";
import { resolveOutcome } from "../converse/stop-reasons.ts";

/** Stop reasons of the Strands loop, in addition to the reasons of the model. */
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

/** `tool_use` as the reason of a finished loop means a tool ended the loop, as structured output does. */
export function resolveLoopOutcome(reason: string | null, openToolCallCount: number): Outcome {
  if (reason === null) return "completed";
  if (reason === "tool_use") return openToolCallCount > 0 ? "action-required" : "completed";
  return LOOP_OUTCOMES.get(reason) ?? resolveOutcome(reason);
}

/** Strands TS writes `endTurn` instead of `end_turn`. */
export function toSnakeCase(reason: string): string {
  if (reason.length > MAX_REASON_LENGTH) return reason;
  return reason.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** No known reason is longer. Longer strings are not converted. */
const MAX_REASON_LENGTH = 256;
