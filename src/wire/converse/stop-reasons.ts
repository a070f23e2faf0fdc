import type { Outcome } from "../../domain/provider-event.ts";

/**
 * What each stop reason of Harness and of ConverseStream means for the turn when it is the last one.
 * `tool_result` closes a message inside a turn; a turn that ends on it was cut.
 */
const OUTCOMES: ReadonlyMap<string, Outcome> = new Map<string, Outcome>([
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

export function outcomeOf(stopReason: string): Outcome {
  return OUTCOMES.get(stopReason) ?? "other";
}

export function isKnownStopReason(stopReason: string): boolean {
  return OUTCOMES.has(stopReason);
}
