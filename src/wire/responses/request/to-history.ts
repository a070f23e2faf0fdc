import type { ModelBlock, ModelMessage } from "../../../domain/model/model-request.ts";
import { normalizeHistory } from "../../../domain/model/normalize-history.ts";
import { createToolCall, type ToolResultPart } from "../../../domain/tools/tool-call.ts";
import type { ContentPart, InputItem } from "./input-item.ts";
import { createUnsupportedContentError } from "./prompt-parts.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";

/**
 * What was said elsewhere, as an agent can be told it: roles alternate, and every call has its result behind it. Messages that
 * came `earlier` are part of it.
 */
export function toHistory(
  items: readonly InputItem[],
  earlier: readonly ModelMessage[] = [],
): readonly ModelMessage[] {
  return normalizeHistory([...earlier, ...toMessages(items)]);
}

/** The messages of the items as they are. */
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
      // It names an item of a session, and there is none: nothing can be told of it.
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

/** What a caller's tool gave, as a result holds it. */
export function toResultPart(part: ContentPart): ToolResultPart {
  if (part.type === "text") return { type: "text", text: part.text };
  throw createUnsupportedContentError(part);
}
