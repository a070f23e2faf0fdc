import type {
  MessageReplaced,
  TextDelta,
  TextFinished,
} from "../../../domain/events/turn-events.ts";
import type { Emit } from "../../../domain/codec.ts";
import type { Envelope } from "../../../domain/events/envelope.ts";
import { appendText, createTextBuilder } from "../../../text/text-builder.ts";
import {
  encodeAssistantMessage,
  encodeOutputText,
  encodeUserMessage,
} from "../items/encode-items.ts";
import type { AssistantMessageItem, ItemStatus } from "../items/response-item.ts";
import type { StreamEvent } from "./response-stream-event.ts";
import {
  resolveBlockKey,
  closeItem,
  openItem,
  getSessionId,
  emitStreamEvent,
  type MessageDraft,
  type StreamState,
  type TextPiece,
} from "./stream-state.ts";

export function encodeTextDelta(
  state: StreamState,
  event: TextDelta,
  emit: Emit<StreamEvent>,
): void {
  if (event.text === "" || resolveRole(state, event.messageId) !== "assistant") return;
  const piece = ensurePiece(state, event, resolveBlockKey(state, event), emit);
  if (!piece.isFinished) addText(state, piece, event.text, emit);
}

export function encodeTextFinished(
  state: StreamState,
  event: TextFinished,
  emit: Emit<StreamEvent>,
  { seq }: Envelope,
): void {
  const { text, interrupted } = event;
  const role = resolveRole(state, event.messageId);
  if (role === "user") return encodeUserText(state, text, seq, emit);
  const isKnown = state.texts.has(formatBlockKey(event));
  if (role !== "assistant" || (text === "" && !isKnown)) return;
  const piece = ensurePiece(state, event, resolveBlockKey(state, event), emit);
  if (piece.isFinished) return;
  // Deltas may be missing in the log or incomplete; the finished event has the whole text.
  const sentText = piece.content.text;
  if (text.length > sentText.length && text.startsWith(sentText))
    addText(state, piece, text.slice(sentText.length), emit);
  piece.isFinished = true;
  if (interrupted === true) piece.draft.isCut = true;
  if (piece.draft.phase !== null) closeWhenFinished(state, piece.draft, emit);
}

/**
 * Sent text cannot be removed: it stays, marked as withdrawn, and the replacement follows. If the replacement continues
 * the sent text, only the remainder is sent.
 */
export function encodeMessageReplaced(
  state: StreamState,
  { messageId, text }: MessageReplaced,
  emit: Emit<StreamEvent>,
  { seq }: Envelope,
): void {
  if (resolveRole(state, messageId) !== "assistant") return;
  const sentDrafts = state.pending.filter((draft) => draft.messageId === messageId);
  for (const piece of state.texts.values())
    if (piece.draft.messageId === messageId) piece.isFinished = true;
  const [firstDraft] = sentDrafts;
  const [piece, second] = firstDraft?.pieces ?? [];
  const isContinuable =
    sentDrafts.length === 1 && second === undefined && piece?.isClosed === false;
  if (isContinuable && text.startsWith(piece.content.text)) {
    const remainingText = text.slice(piece.content.text.length);
    if (remainingText !== "") addText(state, piece, remainingText, emit);
    return;
  }
  for (const draft of sentDrafts) {
    draft.isWithdrawn = true;
    settleDraft(state, draft, text !== "", emit);
  }
  if (text === "") return;
  // Block numbers of a provider are never negative.
  const replacement = ensurePiece(state, { messageId, block: -seq }, String(seq), emit);
  addText(state, replacement, text, emit);
  replacement.isFinished = true;
}

/** A tool call or a later message follows, so the text so far is not the final answer. */
export function settleMessages(
  state: StreamState,
  emit: Emit<StreamEvent>,
  isEarlier: (draft: MessageDraft) => boolean = () => true,
): void {
  for (const draft of state.pending.filter(isEarlier)) settleDraft(state, draft, true, emit);
}

/** Closes all open messages at the end of the response. */
export function closeMessages(
  state: StreamState,
  phase: AssistantMessageItem["phase"],
  resolveStatus: (draft: MessageDraft) => ItemStatus,
  emit: Emit<StreamEvent>,
): void {
  const drafts = new Set([...state.texts.values()].map(({ draft }) => draft));
  for (const draft of drafts) {
    if (state.output[draft.index] !== undefined) continue;
    closeDraft(state, draft, { phase: draft.phase ?? phase, status: resolveStatus(draft) }, emit);
  }
  state.pending = [];
}

interface BlockPosition {
  readonly messageId: string;
  readonly block: number;
}

function resolveRole({ messages }: StreamState, messageId: string) {
  return messages.get(messageId)?.role ?? "other";
}

function formatBlockKey({ messageId, block }: BlockPosition): string {
  return `${messageId}/${block}`;
}

function ensurePiece(
  state: StreamState,
  position: BlockPosition,
  key: string,
  emit: Emit<StreamEvent>,
): TextPiece {
  const block = formatBlockKey(position);
  const existing = state.texts.get(block);
  if (existing !== undefined) return existing;
  settleMessages(state, emit, ({ messageId }) => messageId !== position.messageId);
  // A new piece is a separate paragraph: the text before it ends with a blank line.
  for (const draft of state.pending)
    for (const piece of draft.pieces) if (piece.isFinished) closePiece(state, piece, true, emit);
  const draft = ensureDraft(state, position.messageId, key, emit);
  const piece: TextPiece = {
    draft,
    contentIndex: draft.pieces.length,
    content: createTextBuilder(),
    isFinished: false,
    isClosed: false,
  };
  draft.pieces.push(piece);
  state.texts.set(block, piece);
  emitStreamEvent(
    state,
    { type: "response.content_part.added", ...locatePiece(piece), part: encodeOutputText("") },
    emit,
  );
  return piece;
}

/** Adjacent text of one message is one item. */
function ensureDraft(
  state: StreamState,
  messageId: string,
  key: string,
  emit: Emit<StreamEvent>,
): MessageDraft {
  const last = state.pending.at(-1);
  const isNeighbour = last?.messageId === messageId && last.index === state.output.length - 1;
  if (isNeighbour && last.phase === null) return last;
  const fields = { role: "assistant", content: [], session_id: getSessionId(state) };
  const openItemFields = openItem(state, { type: "message", key, fields }, emit);
  const emptyDraft = { pieces: [], isCut: false, isWithdrawn: false, phase: null };
  const draft: MessageDraft = { ...openItemFields, ...emptyDraft, messageId };
  state.pending.push(draft);
  return draft;
}

function addText(
  state: StreamState,
  piece: TextPiece,
  text: string,
  emit: Emit<StreamEvent>,
): void {
  appendText(piece.content, text);
  // Most events are of this kind, so the object is created directly without spreading.
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

function locatePiece({ draft, contentIndex }: TextPiece) {
  return { item_id: draft.id, output_index: draft.index, content_index: contentIndex };
}

function settleDraft(
  state: StreamState,
  draft: MessageDraft,
  isFollowed: boolean,
  emit: Emit<StreamEvent>,
): void {
  draft.phase = "commentary";
  state.pending = state.pending.filter((candidate) => candidate !== draft);
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
  // Clients join the texts of all messages without a separator.
  if (isFollowed && !piece.content.text.endsWith("\n")) addText(state, piece, BLANK_LINE, emit);
  piece.isClosed = true;
  const { text } = piece.content;
  const location = locatePiece(piece);
  emitStreamEvent(
    state,
    { type: "response.output_text.done", ...location, logprobs: [], text },
    emit,
  );
  emitStreamEvent(
    state,
    { type: "response.content_part.done", ...location, part: encodeOutputText(text) },
    emit,
  );
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
  const sessionId = getSessionId(state);
  const message = { key, texts: pieces.map(({ content }) => content.text) };
  const item = {
    ...state.recorded.state,
    ...encodeAssistantMessage(message, { scope: sessionId, status, phase }),
    session_id: sessionId,
    ...(draft.isWithdrawn && { withdrawn: true as const }),
  };
  closeItem(state, index, item, emit);
}

/** Encodes user text sent by the provider. The text is not streamed, but is part of the output. */
function encodeUserText(
  state: StreamState,
  text: string,
  seq: number,
  emit: Emit<StreamEvent>,
): void {
  if (text === "") return;
  const fields = { role: "user", content: [] };
  const key = String(seq);
  const { index } = openItem(state, { type: "message", key, fields }, emit);
  const facts = { scope: getSessionId(state), status: "completed" } as const;
  closeItem(state, index, encodeUserMessage({ key, texts: [text] }, facts), emit);
}
