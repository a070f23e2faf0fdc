import { SpanlineError } from "../../domain/errors.ts";

/** JSON that the receiver may change: requests are handed over, not kept. */
export type JsonDocument =
  | null
  | boolean
  | number
  | string
  | JsonDocument[]
  | { [key: string]: JsonDocument };

/** The messages of an InvokeHarness request, as they go over the wire. */
export interface ConverseMessage {
  role: "user" | "assistant";
  content: ConverseContent[];
}

/** A message of text alone: fit for the wire and for the AWS SDK. */
export interface UserMessage {
  role: "user";
  content: { text: string }[];
}

export type ConverseContent =
  | { text: string }
  | { toolUse: ToolUseContent }
  | { toolResult: ToolResultContent }
  | { reasoningContent: ReasoningContent };

export interface ToolUseContent {
  toolUseId: string;
  name: string;
  input: JsonDocument;
  type: "tool_use";
}

export interface ToolResultContent {
  toolUseId: string;
  content: ({ text: string } | { json: JsonDocument })[];
  status: "success" | "error";
  type: "tool_use";
}

/** Redacted reasoning is base64 here; the AWS SDK wants its bytes, see `sdkMessages`. */
export type ReasoningContent =
  | { reasoningText: { text: string; signature?: string } }
  | { redactedContent: string };

/**
 * The messages of an ordinary turn: only what is new. The agent holds the conversation; sending it again would
 * double it.
 */
export function createUserMessages(...texts: readonly string[]): [UserMessage] {
  if (texts.length === 0 || texts.some((text) => text.trim() === "")) {
    throw new SpanlineError("invalid_message", "Cannot send an empty message; give it some text");
  }
  return [{ role: "user", content: texts.map((text) => ({ text: text.toWellFormed() })) }];
}
