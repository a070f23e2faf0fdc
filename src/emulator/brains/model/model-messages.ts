import { isObject, jsonText } from "../../../domain/json.ts";
import type { ModelMessage } from "../../../domain/model-request.ts";
import { toolCall, type ToolResult, type ToolResultPart } from "../../../domain/tool.ts";
import type { TurnBlock } from "../../../domain/turn.ts";
import type { Content, Message, ResultPart, ToolResult as SentResult } from "../message.ts";

/** A session as a model takes it. */
export function modelMessages(messages: readonly Message[]): ModelMessage[] {
  return messages.map(({ role, content }) => ({ role, blocks: content.map(blockOf) }));
}

function blockOf(content: Content): TurnBlock {
  if ("text" in content) return { type: "text", text: content.text };
  if ("toolUse" in content) {
    const { toolUseId: id, name, input } = content.toolUse;
    const inputText = jsonText(isObject(input) ? input : { value: input });
    return { type: "call", call: toolCall({ id, name, inputText, runBy: "client" }) };
  }
  if ("toolResult" in content) return { type: "result", result: resultOf(content.toolResult) };
  const { reasoningContent: reasoning } = content;
  return "redactedContent" in reasoning
    ? { type: "reasoning", text: "", redacted: reasoning.redactedContent }
    : { type: "reasoning", ...reasoning.reasoningText };
}

function resultOf({ toolUseId: callId, content, status }: SentResult): ToolResult {
  return { callId, parts: content.map(partOf), isError: status === "error" };
}

function partOf(part: ResultPart): ToolResultPart {
  return "text" in part ? { type: "text", text: part.text } : { type: "json", value: part.json };
}
