import type { Passage } from "./entries.ts";
import { formatItemId } from "./item-id.ts";
import type {
  AssistantMessageItem,
  FunctionCallItem,
  FunctionCallOutputItem,
  ItemStatus,
  MessageItem,
  OutputText,
  ReasoningItem,
  SystemMessageItem,
  UserMessageItem,
} from "./response-item.ts";
import { formatToolOutput, formatOutputPart } from "./format-tool-output.ts";
import type {
  ToolCallBlock,
  ReasoningBlock,
  ToolResultBlock,
} from "../../../domain/provider/turn-builder.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";

/** The values needed by every item in addition to its entry. */
interface ItemContext {
  readonly scope: string;
  readonly status: ItemStatus;
}

/**
 * Encodes a tool call. Unreadable arguments are kept as streamed; missing arguments become an empty object, as models
 * do.
 */
export function encodeFunctionCall(
  { key, toolCall }: Pick<ToolCallBlock, "key" | "toolCall">,
  { scope, status }: ItemContext,
): FunctionCallItem {
  const { id: call_id, name, inputText } = toolCall;
  const isBare = status === "completed" && inputText.trim() === "";
  return {
    id: formatItemId("function_call", scope, key),
    type: "function_call",
    call_id,
    name,
    arguments: isBare ? "{}" : inputText,
    status,
  };
}

export function encodeFunctionCallOutput(
  { key, result }: Pick<ToolResultBlock, "key" | "result">,
  { scope, status, output }: ItemContext & { readonly output: "text" | "parts" },
): FunctionCallOutputItem {
  const text = formatToolOutput(result.parts);
  return {
    id: formatItemId("function_call_output", scope, key),
    type: "function_call_output",
    call_id: result.toolCallId,
    output:
      output === "text"
        ? text
        : result.parts.map((part) => ({ type: "input_text", text: formatOutputPart(part) })),
    status,
    ...(result.isError && { is_error: true, error: text }),
  };
}

export function encodeMessage(
  { role, blocks }: Passage,
  facts: ItemContext & Pick<AssistantMessageItem, "phase">,
): MessageItem {
  const message = { key: blocks[0].key, texts: blocks.map(({ text }) => text) };
  return role === "user"
    ? encodeUserMessage(message, facts)
    : encodeAssistantMessage(message, facts);
}

/** The texts of one message. */
interface MessageTexts {
  readonly key: string;
  readonly texts: readonly string[];
}

export function encodeAssistantMessage(
  { key, texts }: MessageTexts,
  { scope, status, phase }: ItemContext & Pick<AssistantMessageItem, "phase">,
): AssistantMessageItem {
  const id = formatItemId("message", scope, key);
  const content = texts.map(encodeOutputText);
  return { id, type: "message", status, role: "assistant", content, phase };
}

export function encodeUserMessage(
  { key, texts }: MessageTexts,
  { scope, status }: ItemContext,
): UserMessageItem {
  const content = texts.map((text) => ({ type: "input_text" as const, text }));
  return {
    id: formatItemId("message", scope, key),
    type: "message",
    status,
    role: "user",
    content,
  };
}

export function encodeSystemMessage(
  { key, role, text }: Pick<SystemMessageItem, "role"> & { readonly key: string; text: string },
  scope: string,
): SystemMessageItem {
  return {
    id: formatItemId("message", scope, key),
    type: "message",
    status: "completed",
    role,
    content: [{ type: "input_text", text }],
  };
}

export function encodeOutputText(text: string): OutputText {
  return { type: "output_text", text, annotations: [] };
}

type ReasoningFields = Pick<ReasoningBlock, "key" | "text" | "redacted" | "signature">;

/** Encodes reasoning. The text is a summary, the only form read by every client; the raw form is optional. */
export function encodeReasoning(
  { key, text, redacted, signature }: ReasoningFields,
  { scope, status, raw }: ItemContext & { readonly raw: boolean },
): ReasoningItem {
  return {
    id: formatItemId("reasoning", scope, key),
    type: "reasoning",
    status,
    summary: text === "" ? [] : [{ type: "summary_text", text }],
    ...(raw && text !== "" && { content: [{ type: "reasoning_text", text }] }),
    ...omitUndefined({ encrypted_content: redacted, signature }),
  };
}
