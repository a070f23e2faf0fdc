import type { Emit } from "../../../domain/codec.ts";
import type { Envelope } from "../../../domain/events/envelope.ts";
import type {
  ToolCallOpened,
  ToolCallReceived,
  ToolCallInputDelta,
  ToolFinished,
} from "../../../domain/events/tool-events.ts";
import { createCutToolCall, type ToolCall } from "../../../domain/tools/tool-call.ts";
import { appendText, createTextBuilder } from "../../../text/text-builder.ts";
import { encodeFunctionCall, encodeFunctionCallOutput } from "../items/encode-items.ts";
import { formatCallId } from "../response-ids.ts";
import { toWireName } from "../tool-name.ts";
import { openExecutedItem, closeExecutedItem, isFailedOutcome } from "./executed-events.ts";
import { settleMessages } from "./message-events.ts";
import type { StreamEvent } from "./response-stream-event.ts";
import {
  closeItem,
  openItem,
  getSessionId,
  emitStreamEvent,
  type ToolCallDraft,
  type StreamState,
} from "./stream-state.ts";

export function encodeToolCallOpened(
  state: StreamState,
  { toolCallId, name }: ToolCallOpened,
  emit: Emit<StreamEvent>,
  { seq }: Envelope,
): void {
  if (!state.toolCalls.has(toolCallId)) startDraft(state, { toolCallId, name, seq }, emit);
}

export function encodeToolInputDelta(
  state: StreamState,
  { toolCallId, text }: ToolCallInputDelta,
  emit: Emit<StreamEvent>,
): void {
  const draft = state.toolCalls.get(toolCallId);
  if (draft === undefined || draft.toolCall !== null || text === "") return;
  addInput(state, draft, text, emit);
}

export function encodeToolCallReceived(
  state: StreamState,
  { toolCallId, toolCall }: ToolCallReceived,
  emit: Emit<StreamEvent>,
  { seq }: Envelope,
): void {
  const existing = state.toolCalls.get(toolCallId);
  const draft = existing ?? startDraft(state, { toolCallId, name: toolCall.name, seq }, emit);
  if (draft.toolCall === null) completeToolCall(state, draft, toolCall, emit);
}

/** Completes a tool call without complete arguments, when the tool call or the response ends. */
export function closeCutToolCall(
  state: StreamState,
  draft: ToolCallDraft,
  emit: Emit<StreamEvent>,
): void {
  if (draft.toolCall !== null) return;
  const { name, inputText } = draft;
  const facts = { id: "", name, inputText: inputText.text, runBy: "client" } as const;
  completeToolCall(state, draft, createCutToolCall(facts), emit);
}

/** Shows a tool call as function call for the caller to run, if it was shown in another form before. */
export function exposeToolCall(
  state: StreamState,
  draft: ToolCallDraft,
  emit: Emit<StreamEvent>,
): void {
  const { toolCall } = draft;
  if (draft.presentation === "function" || toolCall === null) return;
  const clientDraft: ToolCallDraft = {
    ...draft,
    ...EMPTY_DRAFT,
    inputText: createTextBuilder(),
    presentation: "function",
  };
  openFunctionCall(state, clientDraft, emit);
  completeToolCall(state, clientDraft, toolCall, emit);
}

type DraftStart = Pick<ToolCallDraft, "toolCallId" | "name" | "seq">;

function startDraft(state: StreamState, start: DraftStart, emit: Emit<StreamEvent>): ToolCallDraft {
  settleMessages(state, emit);
  const presentation = resolvePresentation(state, start.name);
  const draft: ToolCallDraft = {
    ...start,
    ...EMPTY_DRAFT,
    inputText: createTextBuilder(),
    presentation,
  };
  state.toolCalls.set(draft.toolCallId, draft);
  if (draft.presentation === "function") openFunctionCall(state, draft, emit);
  return draft;
}

const EMPTY_DRAFT = { item: null, toolCall: null, isAnswered: false } as const;

function resolvePresentation(
  { clientTools, recorded }: StreamState,
  name: string,
): ToolCallDraft["presentation"] {
  if (clientTools.has(name) || recorded.trace === "pairs") return "function";
  return recorded.trace === "none" ? "hidden" : recorded.trace;
}

function openFunctionCall(state: StreamState, draft: ToolCallDraft, emit: Emit<StreamEvent>): void {
  const { toolCallId, name, seq } = draft;
  const call_id = formatCallId(getSessionId(state), toolCallId);
  const fields = { call_id, name: toWireName(name), arguments: "" };
  draft.item = openItem(state, { type: "function_call", key: String(seq), fields }, emit);
}

function addInput(
  state: StreamState,
  draft: ToolCallDraft,
  text: string,
  emit: Emit<StreamEvent>,
): void {
  appendText(draft.inputText, text);
  if (draft.presentation !== "function" || draft.item === null) return;
  const location = { item_id: draft.item.id, output_index: draft.item.index };
  emitStreamEvent(
    state,
    { type: "response.function_call_arguments.delta", ...location, delta: text },
    emit,
  );
}

/** Completes a tool call. The item has the streamed arguments plus the missing remainder. */
function completeToolCall(
  state: StreamState,
  draft: ToolCallDraft,
  call: ToolCall,
  emit: Emit<StreamEvent>,
): void {
  const sentInput = draft.inputText.text;
  const isContinuation = call.inputText.startsWith(sentInput);
  const wholeInput = isContinuation ? call.inputText : sentInput;
  const isBare = wholeInput.trim() === "" && call.input !== null;
  const remainingInput = isBare ? "{}" : wholeInput.slice(sentInput.length);
  // At least one delta is sent, also for arguments truncated before the first delta.
  if (remainingInput !== "" || sentInput === "") addInput(state, draft, remainingInput, emit);
  const inputText = draft.inputText.text;
  draft.toolCall = { ...call, inputText };
  if (draft.item === null) return openExecutedItem(state, draft, draft.toolCall, emit);
  const { item, seq, toolCallId } = draft;
  const location = { item_id: item.id, output_index: item.index };
  const type = "response.function_call_arguments.done";
  emitStreamEvent(state, { type, ...location, arguments: inputText }, emit);
  draft.item = null;
  const sessionId = getSessionId(state);
  const name = toWireName(call.name);
  const wireCall = { ...call, inputText, id: formatCallId(sessionId, toolCallId), name };
  const status = call.input !== null && isContinuation ? "completed" : "incomplete";
  const facts = { scope: sessionId, status } as const;
  const finishedItem = {
    ...encodeFunctionCall({ key: String(seq), toolCall: wireCall }, facts),
    ...(name !== call.name && { original_name: call.name }),
  };
  closeItem(state, item.index, finishedItem, emit);
}

/** Encodes the result of a tool call. A tool call not shown in this response has no result here either. */
export function encodeToolFinished(
  state: StreamState,
  event: ToolFinished,
  emit: Emit<StreamEvent>,
  { seq }: Envelope,
): void {
  const draft = state.toolCalls.get(event.toolCallId);
  if (draft === undefined || draft.isAnswered) return;
  closeCutToolCall(state, draft, emit);
  draft.isAnswered = true;
  if (draft.presentation !== "function") return closeExecutedItem(state, draft, event, emit);
  const sessionId = getSessionId(state);
  const key = String(seq);
  const callId = formatCallId(sessionId, event.toolCallId);
  const fields = { call_id: callId, output: "" };
  const { index } = openItem(state, { type: "function_call_output", key, fields }, emit);
  const isError = isFailedOutcome(event);
  const result = { ...event.result, toolCallId: callId, isError };
  const facts = { scope: sessionId, status: "completed", output: "text" } as const;
  const item = {
    ...encodeFunctionCallOutput({ key, result }, facts),
    ...(isError && { ending: event.ending }),
  };
  closeItem(state, index, item, emit);
}
