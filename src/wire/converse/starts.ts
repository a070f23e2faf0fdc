import { isObject, jsonText } from "../../domain/json.ts";
import { closeCallBlock, closeSlots, IMPLICIT, openCall, openResult, slotAt } from "./blocks.ts";
import { ensureMessage } from "./messages.ts";
import { CONTENT_BLOCK_START, TOOL_RESULT, TOOL_USE, type Fields } from "./schema.ts";
import {
  COST_OF_A_PIECE,
  diagnose,
  keepUnknown,
  keepUnknownFields,
  type Call,
  type ConverseState,
  type Out,
  type Slot,
} from "./state.ts";

/** A start at an index that is in use closes what is open there: nothing that was streamed is overwritten. */
export function foldStart(state: ConverseState, fields: Fields, emit: Out): void {
  keepUnknownFields(state, CONTENT_BLOCK_START, fields, emit);
  const start = isObject(fields["start"]) ? fields["start"] : {};
  for (const kind in start) {
    const body = start[kind];
    if (body === null || body === undefined) continue;
    ensureMessage(
      state,
      { role: kind === "toolResult" ? "user" : "assistant", trails: false },
      emit,
    );
    const slot = slotAt(state, fields["contentBlockIndex"]);
    closeSlots(state, [slot], emit, IMPLICIT);
    if (kind === "toolUse") startCall(state, slot, body, emit);
    else if (kind === "toolResult") startResult(state, slot, body, emit);
    else keepUnknown(state, { what: "start", name: kind, raw: body }, emit);
  }
}

function startCall(state: ConverseState, slot: Slot, body: unknown, emit: Out): void {
  const fields = isObject(body) ? body : {};
  keepUnknownFields(state, TOOL_USE, fields, emit);
  const id = fields["toolUseId"];
  if (typeof id !== "string" || id === "") {
    // Without an id nobody can answer it, and a made-up id would be refused by the service.
    emit({ type: "unknown", what: "start", name: "toolUse", raw: body });
    diagnose(state, "tool_id_missing", "A tool call without an id cannot be answered", emit);
    return;
  }
  openCall(state, slot, callOf(state, id, fields, emit), emit);
}

function callOf(state: ConverseState, id: string, fields: Fields, emit: Out): Call {
  const { name, type, serverName } = fields;
  if (typeof name !== "string" || name === "") {
    diagnose(state, "tool_name_missing", `Tool call ${id} has no name`, emit);
  }
  if (!isOurs(type) && !SERVER_TYPES.has(type)) {
    const message = `Tool call ${id} is of the unknown type ${jsonText(type)}; not offered to run`;
    diagnose(state, "unknown_field", message, emit);
  }
  const facts = {
    name: typeof name === "string" ? name : "",
    runBy: isOurs(type) ? "client" : "server",
    server: typeof serverName === "string" ? serverName : undefined,
    answered: false,
  } as const;
  const known = state.calls.get(id);
  if (known === undefined) {
    const call: Call = { id, slot: null, ...facts };
    state.characters += id.length + facts.name.length + COST_OF_A_PIECE;
    state.calls.set(id, call);
    return call;
  }
  diagnose(
    state,
    "tool_id_repeated",
    `Tool call ${id} was opened again; the last one counts`,
    emit,
  );
  closeCallBlock(state, known, emit);
  return Object.assign(known, facts);
}

/** A call without a type may be anybody's; one of a type that we do not know is not ours to run. */
function isOurs(type: unknown): boolean {
  return type === undefined || type === null || type === "tool_use";
}

const SERVER_TYPES: ReadonlySet<unknown> = new Set(["server_tool_use", "mcp_tool_use"]);

function startResult(state: ConverseState, slot: Slot, body: unknown, emit: Out): void {
  const fields = isObject(body) ? body : {};
  keepUnknownFields(state, TOOL_RESULT, fields, emit);
  const { toolUseId, status } = fields;
  const callId = typeof toolUseId === "string" ? toolUseId : "";
  if (status !== undefined && status !== null && status !== "success" && status !== "error") {
    const message = `Tool result of ${callId} has the unknown status ${jsonText(status)}`;
    diagnose(state, "unknown_field", message, emit);
  }
  const call = state.calls.get(callId);
  if (call === undefined) {
    const message = `A tool result answers "${callId}", which was never called`;
    diagnose(state, "tool_result_unmatched", message, emit);
  } else {
    call.answered = true;
  }
  openResult(state, slot, { callId, isError: status === "error" });
}
