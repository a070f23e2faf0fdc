import { isObject } from "../../data/json.ts";
import { EVENT_NAMES } from "../converse/schema.ts";
import { diagnose, keepUnknown } from "../converse/state.ts";
import { getCurrentMessage, joinTextBlocks, stepConverse } from "./message-tracker.ts";
import { closeDataBlock, closeDataMessage } from "./merged-event.ts";
import { findNewText } from "./delivered-text.ts";
import type { Fields, TrackedMessage, EmitEvent, StrandsState } from "./state.ts";

/** Folds one Converse event, the carrier with the highest priority. */
export function foldConverseEvent(state: StrandsState, event: Fields, emit: EmitEvent): void {
  for (const name in event) foldMember(state, name, event[name], emit);
}

/**
 * Returns whether all keys are Converse events. Some apps unwrap Strands' `{ event: … }` wrapper and send such objects.
 */
export function isBareConverseEvent(fields: Fields): boolean {
  const names = Object.keys(fields);
  return names.length > 0 && names.every(isConverseEventName);
}

export function isConverseEventName(name: string): boolean {
  return EVENT_NAMES.has(name) || name === "redactContent";
}

function foldMember(state: StrandsState, name: string, rawPayload: unknown, emit: EmitEvent): void {
  const currentMessage = getCurrentMessage(state);
  const payload =
    currentMessage?.carrier === "data"
      ? removeDeliveredText(currentMessage, name, rawPayload)
      : rawPayload;
  if (payload === null) return;
  if (currentMessage !== null && name !== "metadata") closeDataBlock(state, currentMessage, emit);
  switch (name) {
    case "messageStart":
      closeDataMessage(state, emit);
      return stepConverse(state, name, payload, emit);
    case "contentBlockDelta":
      stepConverse(state, name, payload, emit);
      return markEventCarrier(state);
    case "contentBlockStart":
      stepConverse(state, name, markServerToolCall(state, payload), emit);
      return markEventCarrier(state);
    case "messageStop":
      return stepConverse(state, name, correctStopReason(state, payload, emit), emit);
    case "metadata":
      if (currentMessage !== null) currentMessage.hasUsage = true;
      return stepConverse(state, name, payload, emit);
    case "redactContent":
      return redactMessage(state, payload, emit);
    default:
      return stepConverse(state, name, payload, emit);
  }
}

/**
 * An app may send its copy of a text before the original Converse event. Returns the event without the delivered text,
 * or null if nothing new remains.
 */
function removeDeliveredText(message: TrackedMessage, name: string, payload: unknown): unknown {
  if (!message.isOpen || !isObject(payload)) return payload;
  if (name === "contentBlockStop") return message.dataBlock === null ? payload : null;
  const { delta } = payload;
  if (name !== "contentBlockDelta" || !isObject(delta)) return payload;
  const { text } = delta;
  if (typeof text !== "string") return payload;
  const newText = findNewText(message.deliveredText, "event", text);
  return newText === "" ? null : { ...payload, delta: { ...delta, text: newText } };
}

/**
 * Marks Converse events as the carrier of the message. Start and stop events alone do not: an app may forward them and
 * withhold the deltas.
 */
function markEventCarrier(state: StrandsState): void {
  const message = getCurrentMessage(state);
  if (message !== null) message.carrier = "event";
}

export function markServerToolCall(state: StrandsState, payload: unknown): unknown {
  if (state.settings.toolsRunBy === "caller" || !isObject(payload)) return payload;
  const { start } = payload;
  if (!isObject(start) || !isObject(start["toolUse"])) return payload;
  const toolUseFields = start["toolUse"];
  const type = toolUseFields["type"] === "mcp_tool_use" ? "mcp_tool_use" : "server_tool_use";
  const toolUse = { ...toolUseFields, type };
  return { ...payload, start: { ...start, toolUse } };
}

/** Some models report `end_turn` for a message with tool calls; Strands then continues as after `tool_use`. */
function correctStopReason(state: StrandsState, payload: unknown, emit: EmitEvent): unknown {
  const currentMessage = getCurrentMessage(state);
  if (currentMessage === null || !isObject(payload) || payload["stopReason"] !== "end_turn")
    return payload;
  if (currentMessage.toolCallCount === 0) return payload;
  const message = `The reason is "end_turn", but the message calls tools; the agent continues as after "tool_use"`;
  diagnose(state.converse, "stop_reason_contradicted", message, emit);
  return { ...payload, stopReason: "tool_use" };
}

/**
 * Replaces the text of a message redacted by a guardrail. The redaction arrives after the end of the message, possibly
 * after its full copy. A redaction of the prompt is ignored here.
 */
function redactMessage(state: StrandsState, payload: unknown, emit: EmitEvent): void {
  const text = isObject(payload) ? payload["redactAssistantContentMessage"] : undefined;
  if (typeof text !== "string") return;
  const { trackedMessage } = state;
  if (trackedMessage === null) {
    return keepUnknown(
      state.converse,
      { what: "event", name: "redactContent", raw: payload },
      emit,
    );
  }
  trackedMessage.withdrawnText ??= joinTextBlocks(trackedMessage);
  trackedMessage.replacementText = text;
  emit({ type: "message.replaced", message: trackedMessage.number, text });
}
