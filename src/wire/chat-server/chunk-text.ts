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

/** The end of a block has its whole text: what was not shown of it is shown now. */
export function endText(state: ChunkState, event: BlockText, emit: Emit<ChatOutput>): void {
  if (!isAssistantText(state, event)) return;
  const block = ensureBlock(state, event);
  sendText(state, block, event.text.slice(block.sentLength), emit);
}

/** What was shown cannot be taken back; what stands in its place follows it. */
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

/** Results of tools come in messages of the user's, whose text is nobody's answer. */
function isAssistantText({ messageRoles }: ChunkState, { messageId }: BlockText): boolean {
  return messageRoles.get(messageId) === "assistant";
}

function ensureBlock({ blocks }: ChunkState, { messageId, block }: BlockText): ChunkTextBlock {
  const key = `${messageId} ${block}`;
  const textBlock = blocks.get(key) ?? { messageId, sentLength: 0, isWithdrawn: false };
  blocks.set(key, textBlock);
  return textBlock;
}

/** A client joins everything to one text: what was said before a call and after it stays apart by a blank line. */
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

/** Where it was said among all that was done. */
function recordTrace(state: ChunkState, block: ChunkTextBlock, text: string): void {
  if (state.options.trace === "none") return;
  if (block.traceText === undefined || state.lastBlock !== block) {
    block.traceText = createTextBuilder();
    state.trace.push({ toolCallId: null, item: block.traceText });
  }
  appendText(block.traceText, text);
}
