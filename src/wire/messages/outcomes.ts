import type { Outcome } from "../../domain/provider/provider-event.ts";

/** What each `stop_reason` means. After `pause_turn` the model can be asked to go on. */
export const MESSAGES_OUTCOMES: ReadonlyMap<string, Outcome> = new Map<string, Outcome>([
  ["end_turn", "completed"],
  ["stop_sequence", "completed"],
  ["tool_use", "action-required"],
  ["max_tokens", "limited"],
  ["model_context_window_exceeded", "limited"],
  ["pause_turn", "limited"],
  ["refusal", "limited"],
]);
