import type { Emit } from "../../domain/codec.ts";
import type { ChunkUpdate } from "./session-update.ts";
import { tell, type AcpOutput, type OpenBlock, type UpdateState } from "./update-state.ts";

export interface BlockPlace {
  readonly messageId: string;
  readonly block: number;
}

/** A piece of a block: sent at once when it is new, held when it is from before, since its end may be there too. */
export function addDelta(
  state: UpdateState,
  kind: OpenBlock["kind"],
  delta: BlockPlace & { readonly text: string },
  emit: Emit<AcpOutput>,
): void {
  const key = keyOf(delta);
  const open = state.blocks.get(key) ?? { kind, messageId: delta.messageId, held: "", sent: 0 };
  state.blocks.set(key, open);
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
  const sent = state.blocks.get(key)?.sent ?? 0;
  state.blocks.delete(key);
  tellChunks(state, kind, { messageId: block.messageId, text: block.text.slice(sent) }, emit);
}

/** What is open of a message's text is replaced: none of it is sent any more. */
export function dropText(state: UpdateState, messageId: string): void {
  for (const [key, open] of state.blocks) {
    if (open.messageId === messageId && open.kind === "agent_message_chunk") {
      state.blocks.delete(key);
    }
  }
}

/** Nothing of these blocks is whole in what was there before; what is there of them is sent now. */
export function sendOpenBlocks(state: UpdateState, emit: Emit<AcpOutput>): void {
  for (const open of state.blocks.values()) sendHeld(state, open, emit);
}

/** Text as chunks of a bounded size: some clients stop reading at a line of 64 KiB. */
export function tellChunks(
  state: UpdateState,
  sessionUpdate: ChunkUpdate["sessionUpdate"],
  message: { readonly messageId: string; readonly text: string },
  emit: Emit<AcpOutput>,
): void {
  const { messageId } = message;
  for (const text of pieces(message.text)) {
    tell(state, { sessionUpdate, content: { type: "text", text }, messageId }, emit);
  }
}

function sendHeld(state: UpdateState, open: OpenBlock, emit: Emit<AcpOutput>): void {
  tellChunks(state, open.kind, { messageId: open.messageId, text: open.held }, emit);
  open.sent += open.held.length;
  open.held = "";
}

function* pieces(text: string): Generator<string> {
  for (let at = 0; at < text.length;) {
    let end = Math.min(at + MAX_PIECE, text.length);
    // Half of a pair would not survive being sent alone.
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end -= 1;
    yield text.slice(at, end);
    at = end;
  }
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function keyOf({ messageId, block }: BlockPlace): string {
  return `${messageId} ${block}`;
}

/** Six bytes for a character is the most that JSON takes: 48 KiB of text in a line. */
const MAX_PIECE = 8 * 1024;
