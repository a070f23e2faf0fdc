import { toJsonText } from "../../../data/json.ts";
import { formatImagePart } from "../../../domain/prompt.ts";
import type { ToolResult } from "../../../domain/tools/tool-call.ts";
import { isStoredImage, type ConversationBlock, type ConversationMessage } from "./conversation.ts";

/**
 * Formats messages as text for a summary, in parts of about `partCharacters`. Reasoning is left out, and long tool
 * output is shortened.
 */
export function formatArchive(
  messages: readonly ConversationMessage[],
  partCharacters: number,
): string[] {
  const parts: string[] = [];
  let lines: string[] = [];
  let length = 0;
  for (const { role, blocks } of messages) {
    const speaker = role === "user" ? "User" : "Agent";
    for (const block of blocks) {
      const text = formatBlock(block, speaker);
      if (text === "") continue;
      if (length > 0 && length + text.length > partCharacters) {
        parts.push(lines.join("\n\n"));
        lines = [];
        length = 0;
      }
      lines.push(text);
      length += text.length;
    }
  }
  return lines.length === 0 ? parts : [...parts, lines.join("\n\n")];
}

function formatBlock(block: ConversationBlock, speaker: string): string {
  switch (block.type) {
    case "text":
      return block.text.trim() === "" ? "" : `${speaker}: ${block.text}`;
    case "reasoning":
      return "";
    case "tool-call":
      return `Tool call ${block.toolCall.name}: ${shortenOutput(block.toolCall.inputText)}`;
    case "tool-result":
      return formatResult(block.result);
    case "image":
      return isStoredImage(block) ? formatImagePart(block) : `(An image, ${block.mediaType}.)`;
    default:
      return block satisfies never;
  }
}

function formatResult({ parts, isError }: ToolResult): string {
  const texts = parts.map((part) =>
    part.type === "text" ? part.text : toJsonText(part.type === "json" ? part.value : part.raw),
  );
  return `Tool result${isError ? " (an error)" : ""}: ${shortenOutput(texts.join("\n"))}`;
}

/** Shortens long output to its first and last lines, and the lines which look like diagnostics. */
export function shortenOutput(text: string): string {
  if (text.length <= MAX_OUTPUT_CHARACTERS) return text;
  const end = text.length - EDGE_CHARACTERS;
  const diagnostics: string[] = [];
  let length = 0;
  for (const line of text.slice(EDGE_CHARACTERS, end).split("\n")) {
    if (!DIAGNOSTIC.test(line)) continue;
    const kept = line.slice(0, MAX_LINE_CHARACTERS);
    length += kept.length;
    if (length > EDGE_CHARACTERS) break;
    diagnostics.push(kept);
  }
  const removed = `(${text.length - 2 * EDGE_CHARACTERS} characters were left out, except for lines with diagnostics.)`;
  return [text.slice(0, EDGE_CHARACTERS), removed, ...diagnostics, text.slice(end)].join("\n");
}

const MAX_OUTPUT_CHARACTERS = 16_000;
const EDGE_CHARACTERS = 4000;
const MAX_LINE_CHARACTERS = 500;
const DIAGNOSTIC = /\b(?:error|warn(?:ing)?|fail(?:ed|ure)?|exception|panic|fatal|traceback)\b/i;
