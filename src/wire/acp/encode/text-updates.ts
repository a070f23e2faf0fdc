import type { MessageReplaced } from "../../../domain/events/turn-events.ts";
import type { Emit } from "../../../domain/codec.ts";
import { fits, LINE_MARGIN, MAX_ESCAPED_BYTES, splitText } from "../fit-json.ts";
import type { ChunkUpdate, TextContent } from "./acp-session-update.ts";
import { emitUpdate, type AcpOutput, type OpenBlock, type UpdateState } from "./update-state.ts";
import {
  createVisibleText,
  finishVisibleText,
  appendVisibleText,
  NOT_SENT,
  type VisibleText,
} from "./visible-text.ts";

export interface BlockReference {
  readonly messageId: string;
  readonly block: number;
}

interface MessageText {
  readonly messageId: string;
  readonly text: string;
}

/**
 * Adds a delta to a block. A live delta is sent at once. A replayed delta is buffered, because the whole text may
 * follow in the replay.
 */
export function addDelta(
  state: UpdateState,
  kind: OpenBlock["kind"],
  delta: BlockReference & { readonly text: string },
  emit: Emit<AcpOutput>,
): void {
  const key = formatBlockKey(delta);
  let open = state.blocks.get(key);
  if (open === undefined) {
    open = { kind, messageId: delta.messageId, pendingText: "", sentLength: 0 };
    state.blocks.set(key, open);
  }
  open.pendingText += delta.text;
  if (state.isLive) sendPendingText(state, open, emit);
}

/** Ends a block, which has its whole text. Only the part that the client did not receive yet is sent. */
export function endBlock(
  state: UpdateState,
  kind: OpenBlock["kind"],
  block: BlockReference & { readonly text: string },
  emit: Emit<AcpOutput>,
): void {
  const key = formatBlockKey(block);
  const { messageId } = block;
  const sentLength = state.blocks.get(key)?.sentLength ?? 0;
  state.blocks.delete(key);
  emitChunks(state, kind, { messageId, text: block.text.slice(sentLength) }, emit);
  if (kind === "agent_message_chunk") finishVisible(state, messageId, emit);
}

/**
 * Replaces the text of a message. ACP cannot retract chunks, so the client keeps the old text; the visible text starts
 * again with the new text.
 */
export function replaceText(
  state: UpdateState,
  event: MessageReplaced,
  emit: Emit<AcpOutput>,
): void {
  const { messageId } = event;
  for (const [key, open] of state.blocks) {
    if (open.messageId === messageId && open.kind === "agent_message_chunk") {
      state.blocks.delete(key);
    }
  }
  state.visibleTexts.delete(messageId);
  emitChunks(state, "agent_message_chunk", event, emit);
  finishVisible(state, messageId, emit);
}

/** Sends the buffered text of blocks without an end in the replay. */
export function sendOpenBlocks(state: UpdateState, emit: Emit<AcpOutput>): void {
  for (const open of state.blocks.values()) sendPendingText(state, open, emit);
}

/** Ends all texts at the end of a turn: open blocks are sent as far as they arrived. */
export function finishTexts(state: UpdateState, emit: Emit<AcpOutput>): void {
  sendOpenBlocks(state, emit);
  state.blocks.clear();
  for (const messageId of state.visibleTexts.keys()) finishVisible(state, messageId, emit);
  state.visibleTexts.clear();
}

/** Emits text as chunks, each within the line limit. */
export function emitChunks(
  state: UpdateState,
  sessionUpdate: ChunkUpdate["sessionUpdate"],
  { messageId, text: messageText }: MessageText,
  emit: Emit<AcpOutput>,
): void {
  const hasVisibleText = sessionUpdate === "agent_message_chunk" && state.getProfile().isBridgeHost;
  const emitChunk = (text: string): void => {
    const content: TextContent = hasVisibleText
      ? { type: "text", text, _meta: encodeVisibleMeta(state, messageId, text) }
      : { type: "text", text };
    emitUpdate(state, { sessionUpdate, content, messageId }, emit);
  };
  // A chunk with visible text may contain its text three times.
  const bytes = (state.lineBytes - LINE_MARGIN) / (hasVisibleText ? 3 : 1);
  const characters = Math.floor(bytes / MAX_ESCAPED_BYTES);
  // Fast path: nearly all chunks are short, and there are very many.
  if (messageText !== "" && messageText.length <= characters) emitChunk(messageText);
  else for (const text of splitText(messageText, characters)) emitChunk(text);
}

function sendPendingText(state: UpdateState, open: OpenBlock, emit: Emit<AcpOutput>): void {
  emitChunks(state, open.kind, { messageId: open.messageId, text: open.pendingText }, emit);
  open.sentLength += open.pendingText.length;
  open.pendingText = "";
}

/**
 * Every chunk has the delta of the visible text. Only the first chunk of a message and the last chunk of a block have
 * the whole visible text.
 */
function encodeVisibleMeta(
  state: UpdateState,
  messageId: string,
  text: string,
): { readonly harn: object } {
  const visible = state.visibleTexts.get(messageId) ?? createVisibleText();
  state.visibleTexts.set(messageId, visible);
  const visible_delta = appendVisibleText(visible, text, state.lineBytes);
  const isFirst = visible.sentLength === NOT_SENT;
  const wholeText = isFirst ? encodeWholeText(visible) : {};
  return { harn: { ...wholeText, visible_delta } };
}

/**
 * Sends the final visible text in an empty chunk, because the last text chunk was not known to be the last when it was
 * sent.
 */
function finishVisible(state: UpdateState, messageId: string, emit: Emit<AcpOutput>): void {
  const visible = state.visibleTexts.get(messageId);
  if (visible === undefined) return;
  const visible_delta = finishVisibleText(visible, state.lineBytes);
  const { text, sentLength, length } = visible;
  const isDue =
    sentLength !== length && text !== undefined && fits(text, state.lineBytes - LINE_MARGIN);
  if (!isDue && visible_delta === "") return;
  const harn = { ...(isDue && encodeWholeText(visible)), visible_delta };
  const content = { type: "text", text: "", _meta: { harn } } as const;
  emitUpdate(state, { sessionUpdate: "agent_message_chunk", content, messageId }, emit);
}

function encodeWholeText(visible: VisibleText): { readonly visible_text?: string } {
  if (visible.text === undefined) return {};
  visible.sentLength = visible.length;
  return { visible_text: visible.text };
}

function formatBlockKey({ messageId, block }: BlockReference): string {
  return `${messageId} ${block}`;
}
