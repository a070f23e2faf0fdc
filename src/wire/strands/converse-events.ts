import { isObject } from "../../domain/json.ts";
import { EVENT_NAMES } from "../converse/schema.ts";
import { diagnose, keepUnknown } from "../converse/state.ts";
import { currentMessage, spokenText, tell } from "./heard.ts";
import { closeDataBlock, closeDataMessage } from "./merged.ts";
import { newPart } from "./repeated-text.ts";
import type { Fields, HeardMessage, Out, StrandsState } from "./state.ts";

/** Folds one Converse event: the carrier that is believed before all others. */
export function foldConverseEvent(state: StrandsState, event: Fields, emit: Out): void {
  for (const name in event) foldMember(state, name, event[name], emit);
}

/** An object whose keys are all Converse events, as apps send it that unwrap what Strands wraps. */
export function isBareConverseEvent(fields: Fields): boolean {
  const names = Object.keys(fields);
  return names.length > 0 && names.every(isConverseEventName);
}

export function isConverseEventName(name: string): boolean {
  return EVENT_NAMES.has(name) || name === "redactContent";
}

function foldMember(state: StrandsState, name: string, given: unknown, emit: Out): void {
  const heard = currentMessage(state);
  const payload = heard?.carrier === "data" ? withoutCopies(heard, name, given) : given;
  if (payload === null) return;
  if (heard !== null && name !== "metadata") closeDataBlock(state, heard, emit);
  switch (name) {
    case "messageStart":
      closeDataMessage(state, emit);
      return tell(state, name, payload, emit);
    case "contentBlockDelta":
      tell(state, name, payload, emit);
      return elect(state);
    case "contentBlockStart":
      tell(state, name, asServerCall(state, payload), emit);
      return elect(state);
    case "messageStop":
      return tell(state, name, withForcedReason(state, payload, emit), emit);
    case "metadata":
      if (heard !== null) heard.usageSeen = true;
      return tell(state, name, payload, emit);
    case "redactContent":
      return redact(state, payload, emit);
    default:
      return tell(state, name, payload, emit);
  }
}

/** An app may put its copy of a text ahead of the event that it has it from: what that event has beyond it, or null. */
function withoutCopies(heard: HeardMessage, name: string, payload: unknown): unknown {
  if (!heard.open || !isObject(payload)) return payload;
  if (name === "contentBlockStop") return heard.dataBlock === null ? payload : null;
  const { delta } = payload;
  if (name !== "contentBlockDelta" || !isObject(delta)) return payload;
  const { text } = delta;
  if (typeof text !== "string") return payload;
  const rest = newPart(heard.said, "event", text);
  return rest === "" ? null : { ...payload, delta: { ...delta, text: rest } };
}

/** A start or an end alone elects nothing: an app may pass those on and hold back what is between them. */
function elect(state: StrandsState): void {
  const heard = currentMessage(state);
  if (heard !== null) heard.carrier = "event";
}

export function asServerCall(state: StrandsState, payload: unknown): unknown {
  if (state.settings.toolsRunBy === "caller" || !isObject(payload)) return payload;
  const { start } = payload;
  if (!isObject(start) || !isObject(start["toolUse"])) return payload;
  const given = start["toolUse"];
  const type = given["type"] === "mcp_tool_use" ? "mcp_tool_use" : "server_tool_use";
  const toolUse = { ...given, type };
  return { ...payload, start: { ...start, toolUse } };
}

/** Some models say `end_turn` although they call tools; Strands then goes on as if they had said `tool_use`. */
function withForcedReason(state: StrandsState, payload: unknown, emit: Out): unknown {
  const heard = currentMessage(state);
  if (heard === null || !isObject(payload) || payload["stopReason"] !== "end_turn") return payload;
  if (heard.calls === 0) return payload;
  const message = `The reason is "end_turn", but the message calls tools; the agent goes on as after "tool_use"`;
  diagnose(state.converse, "stop_reason_contradicted", message, emit);
  return { ...payload, stopReason: "tool_use" };
}

/**
 * Comes behind the end of the message that it withdraws, and may come behind its full copy too. What the guardrail took
 * from the prompt is not shown here.
 */
function redact(state: StrandsState, payload: unknown, emit: Out): void {
  const text = isObject(payload) ? payload["redactAssistantContentMessage"] : undefined;
  if (typeof text !== "string") return;
  const { heard } = state;
  if (heard === null) {
    return keepUnknown(
      state.converse,
      { what: "event", name: "redactContent", raw: payload },
      emit,
    );
  }
  heard.withdrawn ??= spokenText(heard);
  heard.replacement = text;
  emit({ type: "message.replaced", message: heard.number, text });
}
