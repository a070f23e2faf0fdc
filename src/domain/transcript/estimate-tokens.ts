import { toJsonText } from "../../data/json.ts";
import type { ImageBlock } from "../model/image-block.ts";
import type { ModelMessage } from "../model/model-request.ts";
import type { ImagePart } from "../prompt.ts";
import type { TurnBlock } from "../provider/turn.ts";
import type { ToolCall, ToolResult } from "../tools/tool-call.ts";

type CountedBlock = TurnBlock | ImageBlock | ImagePart;

/** A message with images or references to the blobs of images. */
export interface CountedMessage {
  readonly role: ModelMessage["role"];
  readonly blocks: readonly CountedBlock[];
}

/** Estimates the tokens of messages over all kinds of blocks: text, tool calls, tool results, images and reasoning. */
export function estimateMessagesTokens(messages: readonly CountedMessage[]): number {
  let tokens = 0;
  for (const message of messages) tokens += estimateMessageTokens(message);
  return tokens;
}

export function estimateMessageTokens({ blocks }: CountedMessage): number {
  let tokens = MESSAGE_TOKENS;
  for (const block of blocks) tokens += estimateBlockTokens(block);
  return tokens;
}

function estimateBlockTokens(block: CountedBlock): number {
  switch (block.type) {
    case "text":
      return estimateTextTokens(block.text);
    case "reasoning":
      return estimateTextTokens(block.text) + estimateTextTokens(block.redacted ?? "");
    case "tool-call":
      return estimateToolCallTokens(block.toolCall);
    case "tool-result":
      return estimateToolResultTokens(block.result);
    case "image":
      return IMAGE_TOKENS;
    default:
      return block satisfies never;
  }
}

export function estimateToolCallTokens({ name, inputText }: ToolCall): number {
  return estimateTextTokens(name) + estimateTextTokens(inputText);
}

export function estimateToolResultTokens({ parts }: ToolResult): number {
  let tokens = 0;
  for (const part of parts) {
    if (part.type === "text") tokens += estimateTextTokens(part.text);
    else tokens += estimateTextTokens(toJsonText(part.type === "json" ? part.value : part.raw));
  }
  return tokens;
}

/** Four ASCII characters are about a token. A character outside of ASCII is about a token by itself. */
export function estimateTextTokens(text: string): number {
  let wide = 0;
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) > 0x7f) wide++;
  return Math.ceil((text.length - wide) / 4) + wide;
}

/** The largest image without scaling by model APIs. The size of a stored image is not known. */
export const IMAGE_TOKENS = 1600;

/** Role and separators of a message. */
export const MESSAGE_TOKENS = 4;
