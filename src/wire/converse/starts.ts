import { isObject, toJsonText } from "../../data/json.ts";
import {
  closeToolCallBlock,
  closeSlots,
  IMPLICIT,
  openToolCall,
  openResult,
  ensureSlot,
} from "./blocks.ts";
import { ensureMessage } from "./turn-boundaries.ts";
import { CONTENT_BLOCK_START, TOOL_RESULT, TOOL_USE, type Fields } from "./schema.ts";
import {
  PIECE_OVERHEAD,
  diagnose,
  keepUnknown,
  keepUnknownFields,
  type ToolCallState,
  type ConverseState,
  type EmitEvent,
  type Slot,
} from "./state.ts";

/** A start event at an index in use closes the open blocks of this index, so no streamed content is overwritten. */
export function foldStart(state: ConverseState, fields: Fields, emit: EmitEvent): void {
  keepUnknownFields(state, CONTENT_BLOCK_START, fields, emit);
  const start = isObject(fields["start"]) ? fields["start"] : {};
  for (const kind in start) {
    const body = start[kind];
    if (body === null || body === undefined) continue;
    ensureMessage(
      state,
      { role: kind === "toolResult" ? "user" : "assistant", isTrailing: false },
      emit,
    );
    const slot = ensureSlot(state, fields["contentBlockIndex"]);
    closeSlots(state, [slot], emit, IMPLICIT);
    if (kind === "toolUse") startToolCall(state, slot, body, emit);
    else if (kind === "toolResult") startResult(state, slot, body, emit);
    else keepUnknown(state, { what: "start", name: kind, raw: body }, emit);
  }
}

function startToolCall(state: ConverseState, slot: Slot, body: unknown, emit: EmitEvent): void {
  const fields = isObject(body) ? body : {};
  keepUnknownFields(state, TOOL_USE, fields, emit);
  const id = fields["toolUseId"];
  if (typeof id !== "string" || id === "") {
    // A tool call without an id cannot receive a result, and the service would refuse an invented id.
    emit({ type: "unknown", what: "start", name: "toolUse", raw: body });
    diagnose(state, "tool_id_missing", "A tool call without an id cannot receive a result", emit);
    return;
  }
  openToolCall(state, slot, openOrReopenToolCall(state, id, fields, emit), emit);
}

function openOrReopenToolCall(
  state: ConverseState,
  id: string,
  fields: Fields,
  emit: EmitEvent,
): ToolCallState {
  const { name, type, serverName } = fields;
  if (typeof name !== "string" || name === "") {
    diagnose(state, "tool_name_missing", `Tool call ${id} has no name`, emit);
  }
  if (!isClientType(type) && !SERVER_TYPES.has(type)) {
    const message = `Tool call ${id} has the unknown type ${toJsonText(type)} and is not run`;
    diagnose(state, "unknown_field", message, emit);
  }
  const facts = {
    name: typeof name === "string" ? name : "",
    runBy: isClientType(type) ? "client" : "server",
    server: typeof serverName === "string" ? serverName : undefined,
    isAnswered: false,
  } as const;
  const existing = state.toolCalls.get(id);
  if (existing === undefined) {
    const call: ToolCallState = { id, slot: null, ...facts };
    state.characters += id.length + facts.name.length + PIECE_OVERHEAD;
    state.toolCalls.set(id, call);
    return call;
  }
  diagnose(
    state,
    "tool_id_repeated",
    `Tool call ${id} was opened again; the last start event is used`,
    emit,
  );
  closeToolCallBlock(state, existing, emit);
  return Object.assign(existing, facts);
}

/**
 * A tool call without a type may belong to the client or the server. A tool call of an unknown type is never run here.
 */
function isClientType(type: unknown): boolean {
  return type === undefined || type === null || type === "tool_use";
}

const SERVER_TYPES: ReadonlySet<unknown> = new Set(["server_tool_use", "mcp_tool_use"]);

function startResult(state: ConverseState, slot: Slot, body: unknown, emit: EmitEvent): void {
  const fields = isObject(body) ? body : {};
  keepUnknownFields(state, TOOL_RESULT, fields, emit);
  const { toolUseId, status } = fields;
  const toolCallId = typeof toolUseId === "string" ? toolUseId : "";
  if (status !== undefined && status !== null && status !== "success" && status !== "error") {
    const message = `Tool result of ${toolCallId} has the unknown status ${toJsonText(status)}`;
    diagnose(state, "unknown_field", message, emit);
  }
  const call = state.toolCalls.get(toolCallId);
  if (call === undefined) {
    const message = `A tool result refers to the unknown tool call "${toolCallId}"`;
    diagnose(state, "tool_result_unmatched", message, emit);
  } else {
    call.isAnswered = true;
  }
  openResult(state, slot, { toolCallId, isError: status === "error" });
}
