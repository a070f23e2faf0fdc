import { isObject, toJsonText, type JsonObject, type JsonValue } from "../../../data/json.ts";
import type { TurnBlock } from "../../../domain/provider/turn.ts";
import type { ToolResult } from "../../../domain/tools/tool-call.ts";
import type { ConversationBlock, ConversationMessage } from "./conversation.ts";

/** Replaces secrets in a text. */
export type RedactText = (text: string) => { readonly text: string; readonly count: number };

/** A provider refuses a request if a message with a signature has changed. */
export function hasSignedReasoning(blocks: readonly ConversationBlock[]): boolean {
  return blocks.some(
    (block) =>
      block.type === "reasoning" && (block.signature !== undefined || block.redacted !== undefined),
  );
}

export interface RedactedMessage {
  readonly message: ConversationMessage;
  readonly count: number;
  /** Positions of the blocks with replaced matches. */
  readonly blocks: readonly number[];
  readonly isBlocked: boolean;
}

export function redactMessage(
  message: ConversationMessage,
  redactText: RedactText,
): RedactedMessage {
  const redacted = message.blocks.map((block) => redactBlock(block, redactText));
  const count = redacted.reduce((sum, one) => sum + one.count, 0);
  if (count === 0) return { message, count, blocks: [], isBlocked: false };
  // The model wrote this message itself, so the provider already has its content.
  if (hasSignedReasoning(message.blocks)) return { message, count: 0, blocks: [], isBlocked: true };
  const blocks = redacted.map(({ block }) => block);
  const positions = redacted.flatMap((one, index) => (one.count > 0 ? [index] : []));
  return { message: { ...message, blocks }, count, blocks: positions, isBlocked: false };
}

/**
 * Replaces secrets in messages for a request which is not the next one of the conversation, such as a summary. Also in
 * messages with signed reasoning: no provider compares them with its own.
 */
export function redactCopies(
  messages: readonly ConversationMessage[],
  redactText: RedactText | undefined,
): readonly ConversationMessage[] {
  if (redactText === undefined) return messages;
  return messages.map((message) => ({
    ...message,
    blocks: message.blocks.map((block) => redactBlock(block, redactText).block),
  }));
}

/** Replaces secrets in the blocks of a response, unless they include signed reasoning. */
export function redactBlocks(
  blocks: readonly TurnBlock[],
  redactText: RedactText,
): { readonly blocks: readonly TurnBlock[]; readonly count: number } {
  if (hasSignedReasoning(blocks)) return { blocks, count: 0 };
  const redacted = blocks.map((block) => redactBlock(block, redactText));
  const count = redacted.reduce((sum, one) => sum + one.count, 0);
  return { blocks: count === 0 ? blocks : redacted.map(({ block }) => block), count };
}

function redactBlock<Block extends ConversationBlock>(
  block: Block,
  redactText: RedactText,
): { readonly block: Block; readonly count: number };
function redactBlock(
  block: ConversationBlock,
  redactText: RedactText,
): { readonly block: ConversationBlock; readonly count: number } {
  switch (block.type) {
    case "text":
    case "reasoning": {
      const { text, count } = redactText(block.text);
      return count === 0 ? { block, count } : { block: { ...block, text }, count };
    }
    case "tool-call": {
      const { toolCall } = block;
      const { text: inputText, count: textCount } = redactText(toolCall.inputText);
      if (toolCall.input === null)
        return textCount === 0
          ? { block, count: 0 }
          : { block: { ...block, toolCall: { ...toolCall, inputText } }, count: textCount };
      // A secret may be escaped in the text of the arguments.
      const { value: input, count: inputCount } = redactObject(toolCall.input, redactText, 0);
      if (textCount === 0 && inputCount === 0) return { block, count: 0 };
      const redacted = { ...toolCall, inputText: toJsonText(input), input };
      return { block: { ...block, toolCall: redacted }, count: Math.max(textCount, inputCount) };
    }
    case "tool-result": {
      const { result, count } = redactResult(block.result, redactText);
      return count === 0 ? { block, count } : { block: { type: "tool-result", result }, count };
    }
    case "image":
      return { block, count: 0 };
    default:
      return block satisfies never;
  }
}

/** Replaces secrets in the result of a tool. */
export function redactResult(
  result: ToolResult,
  redactText: RedactText,
): { readonly result: ToolResult; readonly count: number } {
  let count = 0;
  const parts = result.parts.map((part) => {
    if (part.type === "text") {
      const redacted = redactText(part.text);
      count += redacted.count;
      return { ...part, text: redacted.text };
    }
    if (part.type === "unknown") {
      const redacted = redactText(toJsonText(part.raw));
      count += redacted.count;
      return redacted.count === 0 ? part : ({ type: "text", text: redacted.text } as const);
    }
    const redacted = redactValue(part.value, redactText, 0);
    count += redacted.count;
    return { ...part, value: redacted.value };
  });
  return count === 0 ? { result, count } : { result: { ...result, parts }, count };
}

interface RedactedValue<Value> {
  readonly value: Value;
  readonly count: number;
}

function redactObject(
  value: JsonObject,
  redactText: RedactText,
  depth: number,
): RedactedValue<JsonObject> {
  let count = 0;
  const entries = Object.entries(value).map(([name, member]) => {
    const redacted = redactValue(member ?? null, redactText, depth + 1);
    count += redacted.count;
    return [name, redacted.value] as const;
  });
  return { value: Object.fromEntries(entries), count };
}

function redactValue(
  value: JsonValue,
  redactText: RedactText,
  depth: number,
): RedactedValue<JsonValue> {
  // Deeper values are searched as text: the recursion must not exhaust the stack.
  if (typeof value === "string" || (depth >= MAX_DEPTH && typeof value === "object")) {
    const whole = typeof value === "string" ? value : toJsonText(value);
    const { text, count } = redactText(whole);
    return { value: typeof value === "string" || count > 0 ? text : value, count };
  }
  if (isObject(value)) return redactObject(value, redactText, depth);
  if (!Array.isArray(value)) return { value, count: 0 };
  let count = 0;
  const members = value.map((member) => {
    const redacted = redactValue(member, redactText, depth + 1);
    count += redacted.count;
    return redacted.value;
  });
  return { value: members, count };
}

const MAX_DEPTH = 200;
