import type { JsonValue } from "../../data/json.ts";

/** A message of a session, in the wire format: used in requests and in session files. */
export interface Message {
  readonly role: Role;
  readonly content: readonly Content[];
}

export type Role = "user" | "assistant";

export type Content =
  | { readonly text: string }
  | { readonly toolUse: ToolUse }
  | { readonly toolResult: ToolResult }
  | { readonly reasoningContent: ReasoningContent };

export interface ToolUse {
  readonly toolUseId: string;
  readonly name: string;
  readonly input: JsonValue;
  readonly type?: ToolUseKind;
  readonly serverName?: string;
}

/** Only calls of kind `tool_use` run on the client. */
export type ToolUseKind = (typeof TOOL_USE_KINDS)[number];

export const TOOL_USE_KINDS = ["tool_use", "server_tool_use", "mcp_tool_use"] as const;

export interface ToolResult {
  readonly toolUseId: string;
  readonly content: readonly ResultPart[];
  readonly status?: ResultStatus;
}

export type ResultPart = { readonly text: string } | { readonly json: JsonValue };

export type ResultStatus = "success" | "error";

/** Redacted reasoning is base64. */
export type ReasoningContent =
  | { readonly reasoningText: { readonly text: string; readonly signature?: string } }
  | { readonly redactedContent: string };

/** The text of a message. Blocks are joined with newlines. */
export function joinTexts(message: Message | undefined): string {
  return readTexts(message).join("\n");
}

export function readTexts(message: Message | undefined): string[] {
  return message?.content.flatMap((block) => ("text" in block ? [block.text] : [])) ?? [];
}

export function readToolUses(message: Message | undefined): ToolUse[] {
  return message?.content.flatMap((block) => ("toolUse" in block ? [block.toolUse] : [])) ?? [];
}

export function readToolResults(message: Message | undefined): ToolResult[] {
  return (
    message?.content.flatMap((block) => ("toolResult" in block ? [block.toolResult] : [])) ?? []
  );
}
