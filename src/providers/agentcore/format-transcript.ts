import { formatImageNote } from "../../domain/model/image-block.ts";
import type { ModelBlock, ModelMessage } from "../../domain/model/model-request.ts";
import { normalizeHistory } from "../../domain/model/normalize-history.ts";
import { formatResultText } from "../../wire/chat/result-text.ts";

/** Formats a history as paragraphs, for an agent that accepts only text. Empty for an empty history. */
export function formatTranscript(history: readonly ModelMessage[]): string[] {
  const messages = normalizeHistory(history);
  const names = collectToolNames(messages);
  const paragraphs = messages.flatMap(({ role, blocks }) =>
    blocks.flatMap((block) => formatBlock(SPEAKERS[role], block, names)),
  );
  return paragraphs.length === 0 ? [] : [INTRODUCTION, ...paragraphs, CONTINUATION];
}

const INTRODUCTION = "This conversation was started elsewhere. The messages so far:";
const CONTINUATION = "The conversation continues here:";
const SPEAKERS = { user: "User", assistant: "Assistant" } as const;

function formatBlock(
  speaker: string,
  block: ModelBlock,
  names: ReadonlyMap<string, string>,
): string[] {
  switch (block.type) {
    case "text":
      return [indentLines(`${speaker}: ${block.text}`)];
    case "reasoning":
      return [];
    case "tool-call":
      return [
        indentLines(
          `${speaker} called ${block.toolCall.name}: ${block.toolCall.inputText || "{}"}`,
        ),
      ];
    case "tool-result": {
      const name = names.get(block.result.toolCallId) ?? block.result.toolCallId;
      return [indentLines(`Result of ${name}: ${formatResultText(block.result)}`)];
    }
    case "image":
      return [indentLines(`${speaker}: ${formatImageNote(block)}`)];
    default:
      return block satisfies never;
  }
}

/** Indents all lines after the first, so a tool result cannot imitate a message of the user. */
function indentLines(text: string): string {
  return text.replaceAll(/\r\n|[\n\r\u2028\u2029]/g, "\n  ");
}

function collectToolNames(messages: readonly ModelMessage[]): ReadonlyMap<string, string> {
  const blocks = messages.flatMap((message) => message.blocks);
  return new Map(
    blocks.flatMap((block) =>
      block.type === "tool-call" ? [[block.toolCall.id, block.toolCall.name] as const] : [],
    ),
  );
}
