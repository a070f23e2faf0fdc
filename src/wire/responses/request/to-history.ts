import type { ModelBlock, ModelMessage } from "../../../domain/model/model-request.ts";
import { normalizeHistory } from "../../../domain/model/normalize-history.ts";
import { createToolCall, type ToolResultPart } from "../../../domain/tools/tool-call.ts";
import type { ContentPart, InputItem } from "./input-item.ts";
import { createUnsupportedContentError } from "./prompt-parts.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";

/**
 * Converts items to a history for an agent: roles alternate, and every tool call is followed by its result. `earlier`
 * messages come first.
 */
export function toHistory(
  items: readonly InputItem[],
  earlier: readonly ModelMessage[] = [],
): readonly ModelMessage[] {
  return normalizeHistory([...earlier, ...toMessages(items)]);
}

/** Converts items to messages without normalization. */
export function toMessages(items: readonly InputItem[]): readonly ModelMessage[] {
  return items.flatMap(toItemMessages);
}

function toItemMessages(item: InputItem): readonly ModelMessage[] {
  switch (item.kind) {
    case "message":
      if (item.role !== "user" && item.role !== "assistant") return [];
      return [{ role: item.role, blocks: item.parts.map(toContentBlock) }];
    case "call":
      return [{ role: "assistant", blocks: [toToolCallBlock(item, "client")] }];
    case "result": {
      const { callId: toolCallId, parts, isError } = item;
      const result = { toolCallId, parts: parts.map(toResultPart), isError };
      return [{ role: "user", blocks: [{ type: "tool-result", result }] }];
    }
    case "executed": {
      const { callId, output, isError } = item;
      const parts: ToolResultPart[] = output === null ? [] : [{ type: "text", text: output }];
      return [
        { role: "assistant", blocks: [toToolCallBlock(item, "server")] },
        {
          role: "user",
          blocks: [{ type: "tool-result", result: { toolCallId: callId, parts, isError } }],
        },
      ];
    }
    case "compaction":
      return item.messages;
    case "reasoning":
      return [{ role: "assistant", blocks: [toReasoningBlock(item)] }];
    case "reference":
      // A reference names an item of a session; without a session it has no content.
      return [];
    default:
      return item satisfies never;
  }
}

function toContentBlock(part: ContentPart): ModelBlock {
  if (part.type === "text") return { type: "text", text: part.text };
  if (part.type === "image") return part.image;
  throw createUnsupportedContentError(part);
}

function toToolCallBlock(
  { callId, name, inputText }: Extract<InputItem, { readonly kind: "call" | "executed" }>,
  runBy: "client" | "server",
): ModelBlock {
  return { type: "tool-call", toolCall: createToolCall({ id: callId, name, inputText, runBy }) };
}

function toReasoningBlock(item: Extract<InputItem, { readonly kind: "reasoning" }>): ModelBlock {
  const { text, redacted, signature } = item;
  return {
    type: "reasoning",
    text,
    ...omitUndefined({ redacted, signature }),
  };
}

/** Converts a content part of a caller's tool result. */
export function toResultPart(part: ContentPart): ToolResultPart {
  if (part.type === "text") return { type: "text", text: part.text };
  throw createUnsupportedContentError(part);
}
