import { imageNote } from "../../domain/image-block.ts";
import type { ModelBlock, ModelMessage } from "../../domain/model-request.ts";
import { settledMessages } from "../../domain/settled-messages.ts";
import { resultText } from "../../wire/chat/result-text.ts";

/** What was said before, as paragraphs for an agent that takes nothing but text. There are none where nothing was. */
export function transcript(history: readonly ModelMessage[]): string[] {
  const messages = settledMessages(history);
  const names = namesOf(messages);
  const said = messages.flatMap(({ role, blocks }) =>
    blocks.flatMap((block) => paragraph(SPEAKERS[role], block, names)),
  );
  return said.length === 0 ? [] : [BEFORE, ...said, NOW];
}

const BEFORE = "This conversation began elsewhere. What was said in it so far:";
const NOW = "Here the conversation goes on:";
const SPEAKERS = { user: "User", assistant: "Assistant" } as const;

function paragraph(
  speaker: string,
  block: ModelBlock,
  names: ReadonlyMap<string, string>,
): string[] {
  switch (block.type) {
    case "text":
      return [indented(`${speaker}: ${block.text}`)];
    case "reasoning":
      return [];
    case "call":
      return [indented(`${speaker} called ${block.call.name}: ${block.call.inputText || "{}"}`)];
    case "result": {
      const name = names.get(block.result.callId) ?? block.result.callId;
      return [indented(`Result of ${name}: ${resultText(block.result)}`)];
    }
    case "image":
      return [indented(`${speaker}: ${imageNote(block)}`)];
    default:
      return block satisfies never;
  }
}

/** Only a paragraph's first line begins at the margin: what a tool found cannot pass for what the user said. */
function indented(text: string): string {
  return text.replaceAll(/\r\n|[\n\r\u2028\u2029]/g, "\n  ");
}

function namesOf(messages: readonly ModelMessage[]): ReadonlyMap<string, string> {
  const blocks = messages.flatMap((message) => message.blocks);
  return new Map(
    blocks.flatMap((block) =>
      block.type === "call" ? [[block.call.id, block.call.name] as const] : [],
    ),
  );
}
