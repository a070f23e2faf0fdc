import type { ToolEnding, ToolFinished } from "../../../domain/agent-event.ts";
import type { Emit } from "../../../domain/codec.ts";
import type { ToolCall } from "../../../domain/tool.ts";
import { callIdOf } from "../ids.ts";
import { itemId } from "../item-id.ts";
import type { McpCallItem, ToolCallItem } from "../output-item.ts";
import { outputText } from "../tool-output.ts";
import { wireName } from "../tool-name.ts";
import type { StreamEvent } from "./stream-event.ts";
import {
  closeItem,
  openItem,
  sessionOf,
  tell,
  type CallDraft,
  type OpenOutput,
  type StreamState,
} from "./stream-state.ts";

// A call and its result as one item, for callers who would run a `function_call` again.

/** Announces the item of a call that is known in full, if there is to be one. */
export function openExecuted(
  state: StreamState,
  draft: CallDraft,
  call: ToolCall,
  emit: Emit<StreamEvent>,
): void {
  const { shownAs, seq } = draft;
  if (shownAs === "mcp") {
    const { id: _, type, status: __, ...fields } = mcpItem(state, draft, call, null);
    const item = openItem(
      state,
      { type, key: String(seq), fields: { ...fields, arguments: "" } },
      emit,
    );
    const place = { item_id: item.id, output_index: item.index };
    const { inputText } = call;
    tell(state, { type: "response.mcp_call.in_progress", ...place }, emit);
    tell(state, { type: "response.mcp_call_arguments.delta", ...place, delta: inputText }, emit);
    tell(state, { type: "response.mcp_call_arguments.done", ...place, arguments: inputText }, emit);
    draft.item = item;
  } else if (shownAs === "extension") {
    const { id: _, type, status: __, ...fields } = toolItem(state, draft, call, null);
    draft.item = openItem(state, { type, key: String(seq), fields }, emit);
  }
}

/** Closes it with its result, or without one where none came. */
export function closeExecuted(
  state: StreamState,
  draft: CallDraft,
  finished: Finished | null,
  emit: Emit<StreamEvent>,
): void {
  const { item, call } = draft;
  if (item === null || call === null) return;
  draft.item = null;
  if (draft.shownAs === "mcp")
    closeMcp(state, { item, done: mcpItem(state, draft, call, finished) }, emit);
  else closeItem(state, item.index, toolItem(state, draft, call, finished), emit);
}

/** Whether a call came to nothing, whatever its result says. */
export function isFailure({ ending, result }: Finished): boolean {
  return result.isError || FAILURES.has(ending);
}

export type Finished = Pick<ToolFinished, "ending" | "result">;

const FAILURES: ReadonlySet<ToolEnding> = new Set<ToolEnding>([
  "failed",
  "denied",
  "cancelled",
  "timed-out",
  "refused",
  "unknown",
]);

interface McpClosing {
  readonly item: OpenOutput;
  readonly done: McpCallItem;
}

function closeMcp(state: StreamState, { item, done }: McpClosing, emit: Emit<StreamEvent>): void {
  const place = { item_id: item.id, output_index: item.index };
  if (done.status !== "incomplete")
    tell(state, { type: `response.mcp_call.${done.status}`, ...place }, emit);
  closeItem(state, item.index, done, emit);
}

function mcpItem(
  state: StreamState,
  { seq }: CallDraft,
  call: ToolCall,
  finished: Finished | null,
): McpCallItem {
  const text = finished === null ? null : outputText(finished.result.parts);
  const isError = finished !== null && isFailure(finished);
  return {
    id: itemId("mcp_call", sessionOf(state), String(seq)),
    type: "mcp_call",
    server_label: call.server ?? "agent",
    ...named(call),
    arguments: call.inputText,
    output: isError ? null : text,
    error: isError ? text : null,
    status: finished === null ? "incomplete" : isError ? "failed" : "completed",
    approval_request_id: null,
  };
}

function toolItem(
  state: StreamState,
  { seq, toolCallId }: CallDraft,
  call: ToolCall,
  finished: Finished | null,
): ToolCallItem {
  const sessionId = sessionOf(state);
  const text = finished === null ? null : outputText(finished.result.parts);
  const isError = finished !== null && isFailure(finished);
  return {
    id: itemId("spanline:tool_call", sessionId, String(seq)),
    type: "spanline:tool_call",
    call_id: callIdOf(sessionId, toolCallId),
    ...named(call),
    ...(call.server !== undefined && { server: call.server }),
    arguments: call.inputText,
    output: text,
    is_error: isError,
    error: isError ? text : null,
    ending: finished?.ending ?? null,
    status: finished === null ? "incomplete" : "completed",
  };
}

function named({ name }: ToolCall) {
  const shown = wireName(name);
  return { name: shown, ...(shown !== name && { original_name: name }) };
}
