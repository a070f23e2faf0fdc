import type { Emit } from "../../domain/codec.ts";
import { appendText, createTextBuilder } from "../../text/text-builder.ts";
import type { ChatOutput } from "./chat-chunk.ts";
import { emitDelta, type ChunkState, type ChunkTextBlock } from "./chunk-state.ts";

interface BlockText {
  readonly messageId: string;
  readonly block: number;
  readonly text: string;
}

export function addText(state: ChunkState, event: BlockText, emit: Emit<ChatOutput>): void {
  if (!isAssistantText(state, event)) return;
  sendText(state, ensureBlock(state, event), event.text, emit);
}

/** The final event of a block has the whole text; the part not sent yet is sent now. */
export function endText(state: ChunkState, event: BlockText, emit: Emit<ChatOutput>): void {
  if (!isAssistantText(state, event)) return;
  const block = ensureBlock(state, event);
  sendText(state, block, event.text.slice(block.sentLength), emit);
}

/** Sent text cannot be withdrawn, so the replacement is sent after the text. */
export function replaceText(
  state: ChunkState,
  { messageId, text }: { readonly messageId: string; readonly text: string },
  emit: Emit<ChatOutput>,
): void {
  for (const block of state.blocks.values()) {
    if (block.messageId === messageId) block.isWithdrawn = true;
  }
  if (state.messageRoles.get(messageId) !== "assistant") return;
  sendText(state, { messageId, sentLength: 0, isWithdrawn: false }, text, emit);
}

/** Tool results arrive in user messages, whose text is not part of the completion. */
function isAssistantText({ messageRoles }: ChunkState, { messageId }: BlockText): boolean {
  return messageRoles.get(messageId) === "assistant";
}

function ensureBlock({ blocks }: ChunkState, { messageId, block }: BlockText): ChunkTextBlock {
  const key = `${messageId} ${block}`;
  const textBlock = blocks.get(key) ?? { messageId, sentLength: 0, isWithdrawn: false };
  blocks.set(key, textBlock);
  return textBlock;
}

/** A client joins all text to one string, so texts before and after a tool call are separated by a blank line. */
function sendText(
  state: ChunkState,
  block: ChunkTextBlock,
  text: string,
  emit: Emit<ChatOutput>,
): void {
  if (text === "" || block.isWithdrawn) return;
  const isNewParagraph = state.lastBlock !== null && state.lastBlock !== block;
  block.sentLength += text.length;
  recordTrace(state, block, text);
  state.lastBlock = block;
  emitDelta(state, { content: isNewParagraph ? `\n\n${text}` : text }, emit);
}

/** Records the position of the text among the actions of the agent. */
function recordTrace(state: ChunkState, block: ChunkTextBlock, text: string): void {
  if (state.options.trace === "none") return;
  if (block.traceText === undefined || state.lastBlock !== block) {
    block.traceText = createTextBuilder();
    state.trace.push({ toolCallId: null, item: block.traceText });
  }
  appendText(block.traceText, text);
}
