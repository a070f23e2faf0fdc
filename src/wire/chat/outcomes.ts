import type { Outcome } from "../../domain/provider/provider-event.ts";

export const REFUSAL = "refusal";

/**
 * What each `finish_reason` means: OpenAI's four, and those that servers which speak its language add. A refusal has a
 * member of its own and then stops like anything else; `refusal` is our word for that reason.
 */
export const CHAT_OUTCOMES: ReadonlyMap<string, Outcome> = new Map<string, Outcome>([
  ["stop", "completed"],
  ["eos", "completed"],
  ["eos_token", "completed"],
  ["end_turn", "completed"],
  ["stop_sequence", "completed"],
  ["tool_calls", "action-required"],
  ["tool_use", "action-required"],
  ["length", "limited"],
  ["max_tokens", "limited"],
  ["model_length", "limited"],
  ["content_filter", "limited"],
  [REFUSAL, "limited"],
  ["error", "failed"],
  ["abort", "failed"],
  ["insufficient_system_resource", "failed"],
]);
