import type {
  ToolAnnounced,
  ToolCalled,
  ToolFinished,
  ToolProgressed,
  ToolStarted,
} from "../../domain/agent-event.ts";
import type { Emit } from "../../domain/codec.ts";
import { jsonText } from "../../domain/json.ts";
import type { ToolResultPart } from "../../domain/tool.ts";
import type { ToolCallFields } from "./session-update.ts";
import { tell, type AcpOutput, type UpdateState } from "./update-state.ts";

export function announced(state: UpdateState, event: ToolAnnounced, emit: Emit<AcpOutput>): void {
  show(state, { toolCallId: event.toolCallId, title: event.name }, emit);
}

/** A call that could not be read is shown as it was streamed. */
export function called(state: UpdateState, event: ToolCalled, emit: Emit<AcpOutput>): void {
  const { toolCallId, call } = event;
  show(state, { toolCallId, title: call.name, rawInput: call.input ?? call.inputText }, emit);
}

export function started(state: UpdateState, event: ToolStarted, emit: Emit<AcpOutput>): void {
  update(state, { toolCallId: event.toolCallId, status: "in_progress" }, emit);
}

export function progressed(state: UpdateState, event: ToolProgressed, emit: Emit<AcpOutput>): void {
  update(state, { toolCallId: event.toolCallId, content: [textContent(event.text)] }, emit);
}

/** ACP knows no end but these two: denied, cancelled and the rest are failed calls, and say so in their content. */
export function finished(state: UpdateState, event: ToolFinished, emit: Emit<AcpOutput>): void {
  const { toolCallId, ending, result } = event;
  const isDone = (ending === "succeeded" || ending === "server") && !result.isError;
  const fields: ToolCallFields = {
    toolCallId,
    status: isDone ? "completed" : "failed",
    content: result.parts.map((part) => textContent(partText(part))),
    rawOutput: rawOutput(result.parts),
  };
  update(state, fields, emit);
  state.calls.delete(toolCallId);
}

/** No call is left as if it went on: not after a cancel, and not after a crash. */
export function closeCalls(state: UpdateState, emit: Emit<AcpOutput>): void {
  for (const toolCallId of state.calls) update(state, { toolCallId, status: "failed" }, emit);
  state.calls.clear();
}

/** The first word about a call is its `tool_call`. */
function show(state: UpdateState, fields: ToolCallFields, emit: Emit<AcpOutput>): void {
  if (state.calls.has(fields.toolCallId)) return update(state, fields, emit);
  state.calls.add(fields.toolCallId);
  tell(state, { sessionUpdate: "tool_call", ...fields, status: "pending" }, emit);
}

/** Clients drop an update of a call that they do not know, so such a call is shown first. */
function update(state: UpdateState, fields: ToolCallFields, emit: Emit<AcpOutput>): void {
  const { toolCallId } = fields;
  if (!state.calls.has(toolCallId)) show(state, { toolCallId, title: toolCallId }, emit);
  tell(state, { sessionUpdate: "tool_call_update", ...fields }, emit);
}

function rawOutput(parts: readonly ToolResultPart[]): unknown {
  const values = parts.map(partValue);
  return values.length === 1 ? values[0] : values;
}

function partValue(part: ToolResultPart): unknown {
  switch (part.type) {
    case "text":
      return part.text;
    case "json":
      return part.value;
    case "unknown":
      return part.raw;
  }
}

function partText(part: ToolResultPart): string {
  return part.type === "text" ? part.text : jsonText(partValue(part));
}

function textContent(text: string): NonNullable<ToolCallFields["content"]>[number] {
  return { type: "content", content: { type: "text", text } };
}
