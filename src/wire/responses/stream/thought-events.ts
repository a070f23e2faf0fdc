import type { ThoughtDelta, ThoughtFinished } from "../../../domain/events/turn-events.ts";
import type { Emit } from "../../../domain/codec.ts";
import { appendText, createTextBuilder } from "../../../text/text-builder.ts";
import { encodeReasoning } from "../items/encode-items.ts";
import type { ItemStatus } from "../items/response-item.ts";
import type { StreamEvent } from "./response-stream-event.ts";
import {
  resolveBlockKey,
  closeItem,
  openItem,
  getSessionId,
  emitStreamEvent,
  type StreamState,
  type ThoughtDraft,
} from "./stream-state.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";

// Reasoning is sent as summaries, the only reasoning events shared by the specification and every client.

export function encodeThoughtDelta(
  state: StreamState,
  event: ThoughtDelta,
  emit: Emit<StreamEvent>,
): void {
  if (event.text === "" || !state.messages.has(event.messageId)) return;
  const draft = ensureDraft(state, event, emit);
  if (!draft.isClosed) addText(state, draft, event.text, emit);
}

export function encodeThoughtFinished(
  state: StreamState,
  event: ThoughtFinished,
  emit: Emit<StreamEvent>,
): void {
  const { text, signature, redacted, interrupted } = event;
  if (!state.messages.has(event.messageId)) return;
  const isEmpty = text === "" && signature === undefined && redacted === undefined;
  if (isEmpty && !state.thoughts.has(formatBlockKey(event))) return;
  const draft = ensureDraft(state, event, emit);
  if (draft.isClosed) return;
  const sentText = draft.content.text;
  if (text.length > sentText.length && text.startsWith(sentText))
    addText(state, draft, text.slice(sentText.length), emit);
  const seal = omitUndefined({ signature, redacted });
  closeDraft(
    state,
    draft,
    { status: interrupted === true ? "incomplete" : "completed", seal },
    emit,
  );
}

/** Closes all open reasoning items as incomplete. */
export function closeThoughts(state: StreamState, emit: Emit<StreamEvent>): void {
  for (const draft of state.thoughts.values())
    if (!draft.isClosed) closeDraft(state, draft, { status: "incomplete", seal: {} }, emit);
}

interface BlockPosition {
  readonly messageId: string;
  readonly block: number;
}

function formatBlockKey({ messageId, block }: BlockPosition): string {
  return `${messageId}/${block}`;
}

function ensureDraft(
  state: StreamState,
  position: BlockPosition,
  emit: Emit<StreamEvent>,
): ThoughtDraft {
  const existing = state.thoughts.get(formatBlockKey(position));
  if (existing !== undefined) return existing;
  const key = resolveBlockKey(state, position);
  const openItemFields = openItem(state, { type: "reasoning", key, fields: { summary: [] } }, emit);
  const draft = {
    ...openItemFields,
    content: createTextBuilder(),
    hasPart: false,
    isClosed: false,
  };
  state.thoughts.set(formatBlockKey(position), draft);
  return draft;
}

function addText(
  state: StreamState,
  draft: ThoughtDraft,
  text: string,
  emit: Emit<StreamEvent>,
): void {
  const location = locateDraft(draft);
  if (!draft.hasPart) {
    draft.hasPart = true;
    const part = { type: "summary_text", text: "" } as const;
    emitStreamEvent(
      state,
      { type: "response.reasoning_summary_part.added", ...location, part },
      emit,
    );
  }
  appendText(draft.content, text);
  emitStreamEvent(
    state,
    { type: "response.reasoning_summary_text.delta", ...location, delta: text },
    emit,
  );
}

function locateDraft({ id, index }: ThoughtDraft) {
  return { item_id: id, output_index: index, summary_index: 0 };
}

interface ThoughtClosing {
  readonly status: ItemStatus;
  readonly seal: { readonly signature?: string; readonly redacted?: string };
}

function closeDraft(
  state: StreamState,
  draft: ThoughtDraft,
  { status, seal }: ThoughtClosing,
  emit: Emit<StreamEvent>,
): void {
  const { text } = draft.content;
  draft.isClosed = true;
  if (draft.hasPart) {
    const location = locateDraft(draft);
    const part = { type: "summary_text", text } as const;
    emitStreamEvent(
      state,
      { type: "response.reasoning_summary_text.done", ...location, text },
      emit,
    );
    emitStreamEvent(
      state,
      { type: "response.reasoning_summary_part.done", ...location, part },
      emit,
    );
  }
  const reasoning = { key: draft.key, text, ...seal };
  const scope = getSessionId(state);
  closeItem(state, draft.index, encodeReasoning(reasoning, { scope, status, raw: false }), emit);
}
