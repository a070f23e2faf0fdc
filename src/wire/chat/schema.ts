import { shapeOf } from "./told.ts";

/** `obfuscation` is padding, by which OpenAI hides the length of what it says. */
export const CHUNK = shapeOf(
  "chunk",
  "id",
  "object",
  "created",
  "model",
  "system_fingerprint",
  "service_tier",
  "obfuscation",
  "choices",
  "usage",
  "error",
);
export const CHOICE = shapeOf("choice", "index", "delta", "message", "finish_reason", "logprobs");
export const DELTA = shapeOf(
  "delta",
  "role",
  "content",
  "refusal",
  "tool_calls",
  "reasoning",
  "reasoning_content",
  "thinking",
);
export const TOOL_CALL = shapeOf("tool_calls", "index", "id", "type", "function");
