import { createShape } from "./converse-adapter.ts";

/** `obfuscation` is padding: OpenAI uses this field to hide the length of its output. */
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
