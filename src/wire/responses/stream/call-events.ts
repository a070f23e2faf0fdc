import type { ToolAnnounced, ToolCalled, ToolInputDelta } from "../../../domain/agent-event.ts";
import type { Emit } from "../../../domain/codec.ts";
import type { Envelope } from "../../../domain/envelope.ts";
import { gather, noText } from "../../../domain/kept-text.ts";
import { cutCall, type ToolCall } from "../../../domain/tool.ts";
import { callIdOf } from "../ids.ts";
import { functionCallItem } from "../items.ts";
import { wireName } from "../tool-name.ts";
import { settleMessages } from "./message-events.ts";
import { openExecuted } from "./executed-events.ts";
import type { StreamEvent } from "./stream-event.ts";
import {
  closeItem,
  openItem,
  sessionOf,
  tell,
  type CallDraft,
  type StreamState,
} from "./stream-state.ts";

export function toolAnnounced(
  state: StreamState,
  { toolCallId, name }: ToolAnnounced,
  emit: Emit<StreamEvent>,
  { seq }: Envelope,
): void {
  if (!state.calls.has(toolCallId)) begin(state, { toolCallId, name, seq }, emit);
}

export function toolInputDelta(
  state: StreamState,
  { toolCallId, text }: ToolInputDelta,
  emit: Emit<StreamEvent>,
): void {
  const draft = state.calls.get(toolCallId);
  if (draft === undefined || draft.call !== null || text === "") return;
  addInput(state, draft, text, emit);
}

export function toolCalled(
  state: StreamState,
  { toolCallId, call }: ToolCalled,
  emit: Emit<StreamEvent>,
  { seq }: Envelope,
): void {
  const known = state.calls.get(toolCallId);
  const draft = known ?? begin(state, { toolCallId, name: call.name, seq }, emit);
  if (draft.call === null) tellCall(state, draft, call, emit);
}

/** A call whose arguments never came, where its end comes or the response's does. */
export function cutShort(state: StreamState, draft: CallDraft, emit: Emit<StreamEvent>): void {
  if (draft.call !== null) return;
  const { name, inputText } = draft;
  const facts = { id: "", name, inputText: inputText.text, runBy: "client" } as const;
  tellCall(state, draft, cutCall(facts), emit);
}

/** A call that the caller is to run after all, though it was not shown as one. */
export function handOut(state: StreamState, draft: CallDraft, emit: Emit<StreamEvent>): void {
  const { call } = draft;
  if (draft.shownAs === "function" || call === null) return;
  const shown: CallDraft = { ...draft, ...NOTHING_SAID, inputText: noText(), shownAs: "function" };
  open(state, shown, emit);
  tellCall(state, shown, call, emit);
}

type Beginning = Pick<CallDraft, "toolCallId" | "name" | "seq">;

function begin(state: StreamState, beginning: Beginning, emit: Emit<StreamEvent>): CallDraft {
  settleMessages(state, emit);
  const shown = shownAs(state, beginning.name);
  const draft: CallDraft = { ...beginning, ...NOTHING_SAID, inputText: noText(), shownAs: shown };
  state.calls.set(draft.toolCallId, draft);
  if (draft.shownAs === "function") open(state, draft, emit);
  return draft;
}

const NOTHING_SAID = { item: null, call: null, isAnswered: false } as const;

function shownAs({ clientTools, recorded }: StreamState, name: string): CallDraft["shownAs"] {
  if (clientTools.has(name) || recorded.trace === "pairs") return "function";
  return recorded.trace === "none" ? "hidden" : recorded.trace;
}

function open(state: StreamState, draft: CallDraft, emit: Emit<StreamEvent>): void {
  const { toolCallId, name, seq } = draft;
  const call_id = callIdOf(sessionOf(state), toolCallId);
  const fields = { call_id, name: wireName(name), arguments: "" };
  draft.item = openItem(state, { type: "function_call", key: String(seq), fields }, emit);
}

function addInput(
  state: StreamState,
  draft: CallDraft,
  text: string,
  emit: Emit<StreamEvent>,
): void {
  gather(draft.inputText, text);
  if (draft.shownAs !== "function" || draft.item === null) return;
  const place = { item_id: draft.item.id, output_index: draft.item.index };
  tell(state, { type: "response.function_call_arguments.delta", ...place, delta: text }, emit);
}

/** The call in full. What is shown is what was streamed, with what is missing of it. */
function tellCall(
  state: StreamState,
  draft: CallDraft,
  call: ToolCall,
  emit: Emit<StreamEvent>,
): void {
  const sent = draft.inputText.text;
  const goesOn = call.inputText.startsWith(sent);
  const whole = goesOn ? call.inputText : sent;
  const isBare = whole.trim() === "" && call.input !== null;
  const rest = isBare ? "{}" : whole.slice(sent.length);
  // At least one, also for arguments that were cut before the first.
  if (rest !== "" || sent === "") addInput(state, draft, rest, emit);
  const inputText = draft.inputText.text;
  draft.call = { ...call, inputText };
  if (draft.item === null) return openExecuted(state, draft, draft.call, emit);
  const { item, seq, toolCallId } = draft;
  const place = { item_id: item.id, output_index: item.index };
  const type = "response.function_call_arguments.done";
  tell(state, { type, ...place, arguments: inputText }, emit);
  draft.item = null;
  const sessionId = sessionOf(state);
  const name = wireName(call.name);
  const shown = { ...call, inputText, id: callIdOf(sessionId, toolCallId), name };
  const status = call.input !== null && goesOn ? "completed" : "incomplete";
  const facts = { scope: sessionId, status } as const;
  const done = {
    ...functionCallItem({ key: String(seq), call: shown }, facts),
    ...(name !== call.name && { original_name: call.name }),
  };
  closeItem(state, item.index, done, emit);
}
