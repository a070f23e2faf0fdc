import type { MessageReplaced } from "../../domain/agent-event.ts";
import type { Emit } from "../../domain/codec.ts";
import { fits, LINE_MARGIN, MOST_ESCAPED, pieces } from "./fitted.ts";
import type { ChunkUpdate, TextContent } from "./session-update.ts";
import { tell, type AcpOutput, type OpenBlock, type UpdateState } from "./update-state.ts";
import { noVisibleText, seenAtEnd, seenOf, UNTOLD, type VisibleText } from "./visible-text.ts";

export interface BlockPlace {
  readonly messageId: string;
  readonly block: number;
}

interface Said {
  readonly messageId: string;
  readonly text: string;
}

/** A piece of a block: sent at once when it is new, held when it is from before, since its end may be there too. */
export function addDelta(
  state: UpdateState,
  kind: OpenBlock["kind"],
  delta: BlockPlace & { readonly text: string },
  emit: Emit<AcpOutput>,
): void {
  const key = keyOf(delta);
  let open = state.blocks.get(key);
  if (open === undefined) {
    open = { kind, messageId: delta.messageId, held: "", sent: 0 };
    state.blocks.set(key, open);
  }
  open.held += delta.text;
  if (state.isLive) sendHeld(state, open, emit);
}

/** The end of a block has its whole text: what the client lacks of it is sent, be that all of it or nothing. */
export function endBlock(
  state: UpdateState,
  kind: OpenBlock["kind"],
  block: BlockPlace & { readonly text: string },
  emit: Emit<AcpOutput>,
): void {
  const key = keyOf(block);
  const { messageId } = block;
  const sent = state.blocks.get(key)?.sent ?? 0;
  state.blocks.delete(key);
  tellChunks(state, kind, { messageId, text: block.text.slice(sent) }, emit);
  if (kind === "agent_message_chunk") endVisible(state, messageId, emit);
}

/** The message says something else instead. What a client has of the old text it keeps; what can be seen is the new one. */
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
  state.visible.delete(messageId);
  tellChunks(state, "agent_message_chunk", event, emit);
  endVisible(state, messageId, emit);
}

/** Nothing of these blocks is whole in what was there before; what is there of them is sent now. */
export function sendOpenBlocks(state: UpdateState, emit: Emit<AcpOutput>): void {
  for (const open of state.blocks.values()) sendHeld(state, open, emit);
}

/** Nothing more is said: what is open is told as far as it came. */
export function endTexts(state: UpdateState, emit: Emit<AcpOutput>): void {
  sendOpenBlocks(state, emit);
  state.blocks.clear();
  for (const messageId of state.visible.keys()) endVisible(state, messageId, emit);
  state.visible.clear();
}

/** Text as chunks, no line longer than it may be. */
export function tellChunks(
  state: UpdateState,
  sessionUpdate: ChunkUpdate["sessionUpdate"],
  { messageId, text: said }: Said,
  emit: Emit<AcpOutput>,
): void {
  const isSeen = sessionUpdate === "agent_message_chunk" && state.profile().isBridgeHost;
  const tellOne = (text: string): void => {
    const content: TextContent = isSeen
      ? { type: "text", text, _meta: seenMeta(state, messageId, text) }
      : { type: "text", text };
    tell(state, { sessionUpdate, content, messageId }, emit);
  };
  // Such a chunk may have its text three times.
  const bytes = (state.lineBytes - LINE_MARGIN) / (isSeen ? 3 : 1);
  const characters = Math.floor(bytes / MOST_ESCAPED);
  // Nearly all are short, and there are very many.
  if (said !== "" && said.length <= characters) tellOne(said);
  else for (const text of pieces(said, characters)) tellOne(text);
}

function sendHeld(state: UpdateState, open: OpenBlock, emit: Emit<AcpOutput>): void {
  tellChunks(state, open.kind, { messageId: open.messageId, text: open.held }, emit);
  open.sent += open.held.length;
  open.held = "";
}

/** What is new to be seen is on every chunk; all of it only on a message's first, and on the last of a block. */
function seenMeta(state: UpdateState, messageId: string, text: string): { readonly harn: object } {
  const visible = state.visible.get(messageId) ?? noVisibleText();
  state.visible.set(messageId, visible);
  const visible_delta = seenOf(visible, text, state.lineBytes);
  const isFirst = visible.told === UNTOLD;
  const whole = isFirst ? wholeOf(visible) : {};
  return { harn: { ...whole, visible_delta } };
}

/** That was the last chunk, which nobody knew when it was sent: one without text says so. */
function endVisible(state: UpdateState, messageId: string, emit: Emit<AcpOutput>): void {
  const visible = state.visible.get(messageId);
  if (visible === undefined) return;
  const visible_delta = seenAtEnd(visible, state.lineBytes);
  const { text, told, length } = visible;
  const isDue = told !== length && text !== undefined && fits(text, state.lineBytes - LINE_MARGIN);
  if (!isDue && visible_delta === "") return;
  const harn = { ...(isDue && wholeOf(visible)), visible_delta };
  const content = { type: "text", text: "", _meta: { harn } } as const;
  tell(state, { sessionUpdate: "agent_message_chunk", content, messageId }, emit);
}

function wholeOf(visible: VisibleText): { readonly visible_text?: string } {
  if (visible.text === undefined) return {};
  visible.told = visible.length;
  return { visible_text: visible.text };
}

function keyOf({ messageId, block }: BlockPlace): string {
  return `${messageId} ${block}`;
}
