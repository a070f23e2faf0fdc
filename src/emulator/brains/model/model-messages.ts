import { isObject, toJsonText } from "../../../data/json.ts";
import type { ModelMessage } from "../../../domain/model/model-request.ts";
import {
  createToolCall,
  type ToolResult,
  type ToolResultPart,
} from "../../../domain/tools/tool-call.ts";
import type { TurnBlock } from "../../../domain/provider/turn.ts";
import type { Content, Message, ResultPart, ToolResult as SentResult } from "../session-message.ts";

/** A session as a model takes it. */
export function toModelMessages(messages: readonly Message[]): ModelMessage[] {
  return messages.map(({ role, content }) => ({ role, blocks: content.map(toTurnBlock) }));
}

function toTurnBlock(content: Content): TurnBlock {
  if ("text" in content) return { type: "text", text: content.text };
  if ("toolUse" in content) {
    const { toolUseId: id, name, input } = content.toolUse;
    const inputText = toJsonText(isObject(input) ? input : { value: input });
    return { type: "call", call: createToolCall({ id, name, inputText, runBy: "client" }) };
  }
  if ("toolResult" in content) return { type: "result", result: toToolResult(content.toolResult) };
  const { reasoningContent: reasoning } = content;
  return "redactedContent" in reasoning
    ? { type: "reasoning", text: "", redacted: reasoning.redactedContent }
    : { type: "reasoning", ...reasoning.reasoningText };
}

function toToolResult({ toolUseId: toolCallId, content, status }: SentResult): ToolResult {
  return { toolCallId, parts: content.map(toResultPart), isError: status === "error" };
}

function toResultPart(part: ResultPart): ToolResultPart {
  return "text" in part ? { type: "text", text: part.text } : { type: "json", value: part.json };
}
