import type { ToolEnding, ToolFinished } from "../../../domain/events/tool-events.ts";
import type { Emit } from "../../../domain/codec.ts";
import type { ToolCall } from "../../../domain/tools/tool-call.ts";
import { formatCallId } from "../response-ids.ts";
import { formatItemId } from "../items/item-id.ts";
import type { McpCallItem, ToolCallItem } from "../items/output-item.ts";
import { formatToolOutput } from "../items/format-tool-output.ts";
import { toWireName } from "../tool-name.ts";
import type { StreamEvent } from "./response-stream-event.ts";
import {
  closeItem,
  openItem,
  getSessionId,
  emitStreamEvent,
  type ToolCallDraft,
  type OpenOutputItem,
  type StreamState,
} from "./stream-state.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";

// A tool call and its result as one item, for callers which would run a `function_call` again.

/** Opens the item of a complete tool call, if its presentation has an item. */
export function openExecutedItem(
  state: StreamState,
  draft: ToolCallDraft,
  call: ToolCall,
  emit: Emit<StreamEvent>,
): void {
  const { presentation, seq } = draft;
  if (presentation === "mcp") {
    const { id: _, type, status: __, ...fields } = encodeMcpItem(state, draft, call, null);
    const item = openItem(
      state,
      { type, key: String(seq), fields: { ...fields, arguments: "" } },
      emit,
    );
    const location = { item_id: item.id, output_index: item.index };
    const { inputText } = call;
    emitStreamEvent(state, { type: "response.mcp_call.in_progress", ...location }, emit);
    emitStreamEvent(
      state,
      { type: "response.mcp_call_arguments.delta", ...location, delta: inputText },
      emit,
    );
    emitStreamEvent(
      state,
      { type: "response.mcp_call_arguments.done", ...location, arguments: inputText },
      emit,
    );
    draft.item = item;
  } else if (presentation === "extension") {
    const { id: _, type, status: __, ...fields } = encodeToolCallItem(state, draft, call, null);
    draft.item = openItem(state, { type, key: String(seq), fields }, emit);
  }
}

/** Closes the item with its result. Without a result, the item is incomplete. */
export function closeExecutedItem(
  state: StreamState,
  draft: ToolCallDraft,
  outcome: ToolOutcome | null,
  emit: Emit<StreamEvent>,
): void {
  const { item, toolCall } = draft;
  if (item === null || toolCall === null) return;
  draft.item = null;
  if (draft.presentation === "mcp")
    closeMcpItem(
      state,
      { item, finishedItem: encodeMcpItem(state, draft, toolCall, outcome) },
      emit,
    );
  else closeItem(state, item.index, encodeToolCallItem(state, draft, toolCall, outcome), emit);
}

/** Returns whether a tool call failed, by its ending or by its result. */
export function isFailedOutcome({ ending, result }: ToolOutcome): boolean {
  return result.isError || FAILED_ENDINGS.has(ending);
}

export type ToolOutcome = Pick<ToolFinished, "ending" | "result">;

const FAILED_ENDINGS: ReadonlySet<ToolEnding> = new Set<ToolEnding>([
  "failed",
  "denied",
  "cancelled",
  "timed-out",
  "refused",
  "unknown",
]);

interface McpClosing {
  readonly item: OpenOutputItem;
  readonly finishedItem: McpCallItem;
}

function closeMcpItem(
  state: StreamState,
  { item, finishedItem }: McpClosing,
  emit: Emit<StreamEvent>,
): void {
  const location = { item_id: item.id, output_index: item.index };
  if (finishedItem.status !== "incomplete")
    emitStreamEvent(state, { type: `response.mcp_call.${finishedItem.status}`, ...location }, emit);
  closeItem(state, item.index, finishedItem, emit);
}

function encodeMcpItem(
  state: StreamState,
  { seq }: ToolCallDraft,
  call: ToolCall,
  outcome: ToolOutcome | null,
): McpCallItem {
  const text = outcome === null ? null : formatToolOutput(outcome.result.parts);
  const isError = outcome !== null && isFailedOutcome(outcome);
  return {
    id: formatItemId("mcp_call", getSessionId(state), String(seq)),
    type: "mcp_call",
    server_label: call.server ?? "agent",
    ...encodeToolName(call),
    arguments: call.inputText,
    output: isError ? null : text,
    error: isError ? text : null,
    status: outcome === null ? "incomplete" : isError ? "failed" : "completed",
    approval_request_id: null,
  };
}

function encodeToolCallItem(
  state: StreamState,
  { seq, toolCallId }: ToolCallDraft,
  call: ToolCall,
  outcome: ToolOutcome | null,
): ToolCallItem {
  const sessionId = getSessionId(state);
  const text = outcome === null ? null : formatToolOutput(outcome.result.parts);
  const isError = outcome !== null && isFailedOutcome(outcome);
  return {
    id: formatItemId("spanline:tool_call", sessionId, String(seq)),
    type: "spanline:tool_call",
    call_id: formatCallId(sessionId, toolCallId),
    ...encodeToolName(call),
    ...omitUndefined({ server: call.server }),
    arguments: call.inputText,
    output: text,
    is_error: isError,
    error: isError ? text : null,
    ending: outcome?.ending ?? null,
    status: outcome === null ? "incomplete" : "completed",
  };
}

function encodeToolName({ name }: ToolCall) {
  const wireName = toWireName(name);
  return { name: wireName, ...(wireName !== name && { original_name: name }) };
}
