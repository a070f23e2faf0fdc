import type { Outcome } from "../../domain/provider/provider-event.ts";

/**
 * The outcome of each stop reason of Harness and ConverseStream, if the reason ends the turn. `tool_result` ends a
 * message inside a turn; a turn with this last reason is truncated.
 */
export const CONVERSE_OUTCOMES: ReadonlyMap<string, Outcome> = new Map<string, Outcome>([
  ["end_turn", "completed"],
  ["stop_sequence", "completed"],
  ["tool_use", "action-required"],
  ["tool_result", "failed"],
  ["max_tokens", "limited"],
  ["max_output_tokens_exceeded", "limited"],
  ["max_iterations_exceeded", "limited"],
  ["timeout_exceeded", "limited"],
  ["model_context_window_exceeded", "limited"],
  ["content_filtered", "limited"],
  ["guardrail_intervened", "limited"],
  ["hook_stopped", "limited"],
  ["interrupted", "limited"],
  ["partial_turn", "limited"],
  ["malformed_model_output", "failed"],
  ["malformed_tool_use", "failed"],
]);

export function resolveOutcome(stopReason: string): Outcome {
  return CONVERSE_OUTCOMES.get(stopReason) ?? "other";
}

/** Maps a model's stop reason to the harness's name for the same reason. Unknown reasons stay unchanged. */
export function toHarnessReason(reason: string, hasCalls: boolean): string {
  if (CONVERSE_OUTCOMES.has(reason)) return reason;
  const knownReason = REASON_SYNONYMS.get(reason) ?? reason;
  // Some model servers report a normal stop although the message has tool calls.
  return knownReason === "end_turn" && hasCalls ? "tool_use" : knownReason;
}

const REASON_SYNONYMS: ReadonlyMap<string, string> = new Map([
  ["stop", "end_turn"],
  ["eos", "end_turn"],
  ["eos_token", "end_turn"],
  ["tool_calls", "tool_use"],
  ["length", "max_tokens"],
  ["model_length", "max_tokens"],
  ["content_filter", "content_filtered"],
  ["refusal", "content_filtered"],
  ["pause_turn", "partial_turn"],
  ["error", "malformed_model_output"],
  ["abort", "malformed_model_output"],
  ["insufficient_system_resource", "malformed_model_output"],
]);
