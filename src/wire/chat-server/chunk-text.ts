import type { Emit } from "../../domain/codec.ts";
import { gather, noText } from "../../domain/kept-text.ts";
import type { ChatOutput } from "./chat-chunk.ts";
import { tell, type ChunkState, type ShownBlock } from "./chunk-state.ts";

interface InBlock {
  readonly messageId: string;
  readonly block: number;
  readonly text: string;
}

export function addText(state: ChunkState, event: InBlock, emit: Emit<ChatOutput>): void {
  if (!isAssistants(state, event)) return;
  show(state, blockOf(state, event), event.text, emit);
}

/** The end of a block has its whole text: what was not shown of it is shown now. */
export function endText(state: ChunkState, event: InBlock, emit: Emit<ChatOutput>): void {
  if (!isAssistants(state, event)) return;
  const block = blockOf(state, event);
  show(state, block, event.text.slice(block.sent), emit);
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
  if (state.speakers.get(messageId) !== "assistant") return;
  show(state, { messageId, sent: 0, isWithdrawn: false }, text, emit);
}

/** Results of tools come in messages of the user's, whose text is nobody's answer. */
function isAssistants({ speakers }: ChunkState, { messageId }: InBlock): boolean {
  return speakers.get(messageId) === "assistant";
}

function blockOf({ blocks }: ChunkState, { messageId, block }: InBlock): ShownBlock {
  const key = `${messageId} ${block}`;
  const known = blocks.get(key) ?? { messageId, sent: 0, isWithdrawn: false };
  blocks.set(key, known);
  return known;
}

/** A client joins everything to one text: what was said before a call and after it stays apart by a blank line. */
function show(state: ChunkState, block: ShownBlock, text: string, emit: Emit<ChatOutput>): void {
  if (text === "" || block.isWithdrawn) return;
  const isApart = state.lastShown !== null && state.lastShown !== block;
  block.sent += text.length;
  trace(state, block, text);
  state.lastShown = block;
  tell(state, { content: isApart ? `\n\n${text}` : text }, emit);
}

/** Where it was said among all that was done. */
function trace(state: ChunkState, block: ShownBlock, text: string): void {
  if (state.options.trace === "none") return;
  if (block.traced === undefined || state.lastShown !== block) {
    block.traced = noText();
    state.trace.push({ toolCallId: null, item: block.traced });
  }
  gather(block.traced, text);
}
