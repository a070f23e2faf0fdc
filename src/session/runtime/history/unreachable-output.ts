import { toJsonText, type JsonValue } from "../../../data/json.ts";
import type { ToolResult } from "../../../domain/tools/tool-call.ts";
import type { ProjectionSpec } from "../../../domain/transcript/projection.ts";
import type { ConversationBlock, ConversationMessage } from "./conversation.ts";

const ROOT_WINDOW = 8;
const MIN_BODY_CHARACTERS = 500;

/**
 * Replaces long tool output by a note, unless the last messages refer to its tool call: by its id, or by an argument of
 * the call, such as the path of a file.
 */
export function findUnreachableOutput(
  messages: readonly ConversationMessage[],
  { rootWindow = ROOT_WINDOW, minBodyCharacters = MIN_BODY_CHARACTERS }: ProjectionSpec,
): {
  readonly messages: readonly ConversationMessage[];
  readonly droppedCount: number;
  readonly rootsConsulted: number;
} {
  const rootStart = Math.max(0, messages.length - rootWindow);
  const roots = messages.slice(rootStart);
  const rootText = roots.flatMap(({ blocks }) => blocks.flatMap(listTexts)).join("\n");
  const calls = new Map<string, Extract<ConversationBlock, { type: "tool-call" }>["toolCall"]>();
  let droppedCount = 0;
  const projected = messages.slice(0, rootStart).map((message) => {
    const blocks = message.blocks.map((block): ConversationBlock => {
      if (block.type === "tool-call") calls.set(block.toolCall.id, block.toolCall);
      if (block.type !== "tool-result") return block;
      const { result } = block;
      const call = calls.get(result.toolCallId);
      const length = measureOutput(result);
      if (length < minBodyCharacters || call === undefined) return block;
      const references = [call.id, ...listStrings(call.input)];
      if (references.some((text) => isReference(text) && rootText.includes(text))) return block;
      droppedCount += 1;
      const text = `(The output of ${call.name}, ${length} characters, was left out. Call the tool again if it is needed.)`;
      return { type: "tool-result", result: { ...result, parts: [{ type: "text", text }] } };
    });
    return { ...message, blocks };
  });
  const rootsConsulted = roots.length;
  if (droppedCount === 0) return { messages, droppedCount, rootsConsulted };
  return { messages: [...projected, ...roots], droppedCount, rootsConsulted };
}

/** Shorter texts occur by chance. */
function isReference(text: string): boolean {
  return text.length >= 4;
}

function listTexts(block: ConversationBlock): string[] {
  switch (block.type) {
    case "text":
    case "reasoning":
      return [block.text];
    case "tool-call":
      return [block.toolCall.id, block.toolCall.inputText];
    case "tool-result":
      return [block.result.toolCallId, formatOutput(block.result)];
    case "image":
      return [];
    default:
      return block satisfies never;
  }
}

function formatOutput({ parts }: ToolResult): string {
  return parts
    .map((part) =>
      part.type === "text" ? part.text : toJsonText(part.type === "json" ? part.value : part.raw),
    )
    .join("\n");
}

function measureOutput(result: ToolResult): number {
  return formatOutput(result).length;
}

function listStrings(value: JsonValue): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap((member) =>
    member === undefined ? [] : listStrings(member),
  );
}
