import { SpanlineError } from "../../domain/errors.ts";
import type { JsonValue } from "../../domain/json.ts";

/** The messages of an InvokeHarness or Converse request, as far as both take them. */
export interface ConverseMessage {
  readonly role: "user" | "assistant";
  readonly content: readonly ConverseContent[];
}

export type ConverseContent =
  | { readonly text: string }
  | { readonly toolUse: ToolUseContent }
  | { readonly toolResult: ToolResultContent }
  | { readonly reasoningContent: ReasoningContent };

export interface ToolUseContent {
  readonly toolUseId: string;
  readonly name: string;
  readonly input: JsonValue;
  readonly type: "tool_use";
}

export interface ToolResultContent {
  readonly toolUseId: string;
  readonly content: readonly ({ readonly text: string } | { readonly json: JsonValue })[];
  readonly status: "success" | "error";
  readonly type: "tool_use";
}

export type ReasoningContent =
  | { readonly reasoningText: { readonly text: string; readonly signature?: string } }
  | { readonly redactedContent: string };

/**
 * The messages of an ordinary turn: only what is new. The agent holds the conversation; sending it again would
 * double it.
 */
export function userMessages(...texts: readonly string[]): readonly [ConverseMessage] {
  if (texts.length === 0 || texts.some((text) => text === "")) {
    throw new SpanlineError("invalid_message", "Cannot send an empty message; give it some text");
  }
  return [{ role: "user", content: texts.map((text) => ({ text: text.toWellFormed() })) }];
}
