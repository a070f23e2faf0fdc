import type { MessageReplaced, TextDelta, TextFinished } from "../../../domain/agent-event.ts";
import type { Emit } from "../../../domain/codec.ts";
import type { Envelope } from "../../../domain/envelope.ts";
import { gather, noText } from "../../../domain/kept-text.ts";
import { assistantMessageItem, outputTextPart, userMessageItem } from "../items.ts";
import type { AssistantMessageItem, ItemStatus } from "../response-item.ts";
import type { StreamEvent } from "./stream-event.ts";
import {
  blockKeyOf,
  closeItem,
  openItem,
  sessionOf,
  tell,
  type MessageDraft,
  type StreamState,
  type TextPiece,
} from "./stream-state.ts";

export function textDelta(state: StreamState, event: TextDelta, emit: Emit<StreamEvent>): void {
  if (event.text === "" || roleOf(state, event.messageId) !== "assistant") return;
  const piece = pieceFor(state, event, blockKeyOf(state, event), emit);
  if (!piece.isFinished) addText(state, piece, event.text, emit);
}

export function textFinished(
  state: StreamState,
  event: TextFinished,
  emit: Emit<StreamEvent>,
  { seq }: Envelope,
): void {
  const { text, interrupted } = event;
  const role = roleOf(state, event.messageId);
  if (role === "user") return userText(state, text, seq, emit);
  const isKnown = state.texts.has(blockKey(event));
  if (role !== "assistant" || (text === "" && !isKnown)) return;
  const piece = pieceFor(state, event, blockKeyOf(state, event), emit);
  if (piece.isFinished) return;
  // The deltas may be gone from the log, or have stopped early: the end has the whole.
  const sent = piece.gathered.text;
  if (text.length > sent.length && text.startsWith(sent))
    addText(state, piece, text.slice(sent.length), emit);
  piece.isFinished = true;
  if (interrupted === true) piece.draft.isCut = true;
  if (piece.draft.phase !== null) closeWhenFinished(state, piece.draft, emit);
}

/**
 * What was shown cannot be unsaid: it stays, marked as withdrawn, and what stands in its place comes behind it. Where
 * the new text only goes on from the shown one, it goes on.
 */
export function messageReplaced(
  state: StreamState,
  { messageId, text }: MessageReplaced,
  emit: Emit<StreamEvent>,
  { seq }: Envelope,
): void {
  if (roleOf(state, messageId) !== "assistant") return;
  const shown = state.pending.filter((draft) => draft.messageId === messageId);
  for (const piece of state.texts.values())
    if (piece.draft.messageId === messageId) piece.isFinished = true;
  const [only] = shown;
  const [piece, second] = only?.pieces ?? [];
  const goesOn = shown.length === 1 && second === undefined && piece?.isClosed === false;
  if (goesOn && text.startsWith(piece.gathered.text)) {
    const rest = text.slice(piece.gathered.text.length);
    if (rest !== "") addText(state, piece, rest, emit);
    return;
  }
  for (const draft of shown) {
    draft.isWithdrawn = true;
    settle(state, draft, text !== "", emit);
  }
  if (text === "") return;
  // No block has a number below zero.
  const replacement = pieceFor(state, { messageId, block: -seq }, String(seq), emit);
  addText(state, replacement, text, emit);
  replacement.isFinished = true;
}

/** A tool, or a later message, follows: whatever was said so far was not the answer. */
export function settleMessages(
  state: StreamState,
  emit: Emit<StreamEvent>,
  isEarlier: (draft: MessageDraft) => boolean = () => true,
): void {
  for (const draft of state.pending.filter(isEarlier)) settle(state, draft, true, emit);
}

/** Closes what is still open at the end of the response. */
export function closeMessages(
  state: StreamState,
  phase: AssistantMessageItem["phase"],
  statusOf: (draft: MessageDraft) => ItemStatus,
  emit: Emit<StreamEvent>,
): void {
  const unsettled = new Set([...state.texts.values()].map(({ draft }) => draft));
  for (const draft of unsettled) {
    if (state.output[draft.index] !== undefined) continue;
    closeDraft(state, draft, { phase: draft.phase ?? phase, status: statusOf(draft) }, emit);
  }
  state.pending = [];
}

interface At {
  readonly messageId: string;
  readonly block: number;
}

function roleOf({ messages }: StreamState, messageId: string) {
  return messages.get(messageId)?.role ?? "other";
}

function blockKey({ messageId, block }: At): string {
  return `${messageId}/${block}`;
}

function pieceFor(state: StreamState, at: At, key: string, emit: Emit<StreamEvent>): TextPiece {
  const block = blockKey(at);
  const known = state.texts.get(block);
  if (known !== undefined) return known;
  settleMessages(state, emit, ({ messageId }) => messageId !== at.messageId);
  // A new piece stands on its own: what was said before it ends with a blank line.
  for (const draft of state.pending)
    for (const piece of draft.pieces) if (piece.isFinished) closePiece(state, piece, true, emit);
  const draft = draftFor(state, at.messageId, key, emit);
  const piece: TextPiece = {
    draft,
    contentIndex: draft.pieces.length,
    gathered: noText(),
    isFinished: false,
    isClosed: false,
  };
  draft.pieces.push(piece);
  state.texts.set(block, piece);
  tell(
    state,
    { type: "response.content_part.added", ...placeIn(piece), part: outputTextPart("") },
    emit,
  );
  return piece;
}

/** Neighbouring text of one message is one item. */
function draftFor(
  state: StreamState,
  messageId: string,
  key: string,
  emit: Emit<StreamEvent>,
): MessageDraft {
  const last = state.pending.at(-1);
  const isNeighbour = last?.messageId === messageId && last.index === state.output.length - 1;
  if (isNeighbour && last.phase === null) return last;
  const fields = { role: "assistant", content: [], session_id: sessionOf(state) };
  const opened = openItem(state, { type: "message", key, fields }, emit);
  const fresh = { pieces: [], isCut: false, isWithdrawn: false, phase: null };
  const draft: MessageDraft = { ...opened, ...fresh, messageId };
  state.pending.push(draft);
  return draft;
}

function addText(
  state: StreamState,
  piece: TextPiece,
  text: string,
  emit: Emit<StreamEvent>,
): void {
  gather(piece.gathered, text);
  // Nearly all events are this one: it is made in one go, and not of pieces.
  emit({
    type: "response.output_text.delta",
    sequence_number: state.sequence,
    item_id: piece.draft.id,
    output_index: piece.draft.index,
    content_index: piece.contentIndex,
    logprobs: NO_LOGPROBS,
    delta: text,
  });
  state.sequence += 1;
}

const NO_LOGPROBS: readonly never[] = [];

function placeIn({ draft, contentIndex }: TextPiece) {
  return { item_id: draft.id, output_index: draft.index, content_index: contentIndex };
}

function settle(
  state: StreamState,
  draft: MessageDraft,
  isFollowed: boolean,
  emit: Emit<StreamEvent>,
): void {
  draft.phase = "commentary";
  state.pending = state.pending.filter((other) => other !== draft);
  if (isFollowed) closeWhenFinished(state, draft, emit);
}

function closeWhenFinished(state: StreamState, draft: MessageDraft, emit: Emit<StreamEvent>): void {
  if (!draft.pieces.every((piece) => piece.isFinished)) return;
  for (const piece of draft.pieces) closePiece(state, piece, true, emit);
  const status = draft.isCut ? "incomplete" : "completed";
  closeDraft(state, draft, { phase: draft.phase ?? "commentary", status }, emit);
}

function closePiece(
  state: StreamState,
  piece: TextPiece,
  isFollowed: boolean,
  emit: Emit<StreamEvent>,
): void {
  if (piece.isClosed) return;
  // Clients join the texts of all messages without a space.
  if (isFollowed && !piece.gathered.text.endsWith("\n")) addText(state, piece, BLANK_LINE, emit);
  piece.isClosed = true;
  const { text } = piece.gathered;
  const place = placeIn(piece);
  tell(state, { type: "response.output_text.done", ...place, logprobs: [], text }, emit);
  tell(state, { type: "response.content_part.done", ...place, part: outputTextPart(text) }, emit);
}

const BLANK_LINE = "\n\n";

function closeDraft(
  state: StreamState,
  draft: MessageDraft,
  { phase, status }: Pick<AssistantMessageItem, "phase" | "status">,
  emit: Emit<StreamEvent>,
): void {
  const { pieces, index, key } = draft;
  const last = pieces.at(-1);
  for (const piece of pieces) closePiece(state, piece, piece !== last, emit);
  const sessionId = sessionOf(state);
  const said = { key, texts: pieces.map(({ gathered }) => gathered.text) };
  const item = {
    ...state.recorded.state,
    ...assistantMessageItem(said, { scope: sessionId, status, phase }),
    session_id: sessionId,
    ...(draft.isWithdrawn && { withdrawn: true as const }),
  };
  closeItem(state, index, item, emit);
}

/** Text that the provider put into the user's mouth. It is no output to be streamed, and is there all the same. */
function userText(state: StreamState, text: string, seq: number, emit: Emit<StreamEvent>): void {
  if (text === "") return;
  const fields = { role: "user", content: [] };
  const key = String(seq);
  const { index } = openItem(state, { type: "message", key, fields }, emit);
  const facts = { scope: sessionOf(state), status: "completed" } as const;
  closeItem(state, index, userMessageItem({ key, texts: [text] }, facts), emit);
}
