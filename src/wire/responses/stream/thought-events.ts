import type { ThoughtDelta, ThoughtFinished } from "../../../domain/agent-event.ts";
import type { Emit } from "../../../domain/codec.ts";
import { gather, noText } from "../../../domain/kept-text.ts";
import { reasoningItem } from "../items.ts";
import type { ItemStatus } from "../response-item.ts";
import type { StreamEvent } from "./stream-event.ts";
import {
  blockKeyOf,
  closeItem,
  openItem,
  sessionOf,
  tell,
  type StreamState,
  type ThoughtDraft,
} from "./stream-state.ts";

// Thoughts ride as summaries: the one family of events that the specification and every client share.

export function thoughtDelta(
  state: StreamState,
  event: ThoughtDelta,
  emit: Emit<StreamEvent>,
): void {
  if (event.text === "" || !state.messages.has(event.messageId)) return;
  const draft = draftFor(state, event, emit);
  if (!draft.isClosed) addText(state, draft, event.text, emit);
}

export function thoughtFinished(
  state: StreamState,
  event: ThoughtFinished,
  emit: Emit<StreamEvent>,
): void {
  const { text, signature, redacted, interrupted } = event;
  if (!state.messages.has(event.messageId)) return;
  const isEmpty = text === "" && signature === undefined && redacted === undefined;
  if (isEmpty && !state.thoughts.has(keyOf(event))) return;
  const draft = draftFor(state, event, emit);
  if (draft.isClosed) return;
  const sent = draft.gathered.text;
  if (text.length > sent.length && text.startsWith(sent))
    addText(state, draft, text.slice(sent.length), emit);
  const sealed = {
    ...(signature !== undefined && { signature }),
    ...(redacted !== undefined && { redacted }),
  };
  close(state, draft, { status: interrupted === true ? "incomplete" : "completed", sealed }, emit);
}

/** Closes those that nothing ended. */
export function closeThoughts(state: StreamState, emit: Emit<StreamEvent>): void {
  for (const draft of state.thoughts.values())
    if (!draft.isClosed) close(state, draft, { status: "incomplete", sealed: {} }, emit);
}

interface At {
  readonly messageId: string;
  readonly block: number;
}

function keyOf({ messageId, block }: At): string {
  return `${messageId}/${block}`;
}

function draftFor(state: StreamState, at: At, emit: Emit<StreamEvent>): ThoughtDraft {
  const known = state.thoughts.get(keyOf(at));
  if (known !== undefined) return known;
  const key = blockKeyOf(state, at);
  const opened = openItem(state, { type: "reasoning", key, fields: { summary: [] } }, emit);
  const draft = { ...opened, gathered: noText(), hasPart: false, isClosed: false };
  state.thoughts.set(keyOf(at), draft);
  return draft;
}

function addText(
  state: StreamState,
  draft: ThoughtDraft,
  text: string,
  emit: Emit<StreamEvent>,
): void {
  const place = placeIn(draft);
  if (!draft.hasPart) {
    draft.hasPart = true;
    const part = { type: "summary_text", text: "" } as const;
    tell(state, { type: "response.reasoning_summary_part.added", ...place, part }, emit);
  }
  gather(draft.gathered, text);
  tell(state, { type: "response.reasoning_summary_text.delta", ...place, delta: text }, emit);
}

function placeIn({ id, index }: ThoughtDraft) {
  return { item_id: id, output_index: index, summary_index: 0 };
}

interface Closing {
  readonly status: ItemStatus;
  readonly sealed: { readonly signature?: string; readonly redacted?: string };
}

function close(
  state: StreamState,
  draft: ThoughtDraft,
  { status, sealed }: Closing,
  emit: Emit<StreamEvent>,
): void {
  const { text } = draft.gathered;
  draft.isClosed = true;
  if (draft.hasPart) {
    const place = placeIn(draft);
    const part = { type: "summary_text", text } as const;
    tell(state, { type: "response.reasoning_summary_text.done", ...place, text }, emit);
    tell(state, { type: "response.reasoning_summary_part.done", ...place, part }, emit);
  }
  const said = { key: draft.key, text, ...sealed };
  const scope = sessionOf(state);
  closeItem(state, draft.index, reasoningItem(said, { scope, status, raw: false }), emit);
}
