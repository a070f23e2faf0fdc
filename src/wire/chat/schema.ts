import { createShape } from "./converse-adapter.ts";

/** `obfuscation` is padding, by which OpenAI hides the length of what it says. */
export const CHUNK = createShape(
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
export const CHOICE = createShape(
  "choice",
  "index",
  "delta",
  "message",
  "finish_reason",
  "logprobs",
);
export const DELTA = createShape(
  "delta",
  "role",
  "content",
  "refusal",
  "tool_calls",
  "reasoning",
  "reasoning_content",
  "thinking",
);
export const TOOL_CALL = createShape("tool_calls", "index", "id", "type", "function");
