import { isObject } from "../../domain/json.ts";
import type { ActivityKind, ActivitySeen } from "../../domain/provider-event.ts";
import { announcedName, displayName } from "./display-names.ts";
import { foldNode, isNodeEvent, noteNested } from "./nodes.ts";
import { rememberAnnounced, type Fields, type Out, type StrandsState } from "./state.ts";

/** Emits what an event says of the agent's doings by its type; false when it is no such event. */
export function foldTypedActivity(state: StrandsState, fields: Fields, emit: Out): boolean {
  const { type } = fields;
  if (!isTypedActivity(fields) || typeof type !== "string") return false;
  if (type === "tool_use") return announce(state, fields, emit);
  if (type === "tool_stream") return progress(state, fields, emit);
  return foldNode(state, type, fields, emit);
}

/** The same for an event that says it by a key, which may stand beside content. */
export function foldKeyedActivity(state: StrandsState, fields: Fields, emit: Out): boolean {
  const [key, kind] = keyedActivity(fields) ?? [];
  if (key === undefined || kind === undefined) return false;
  emit(activity(state, kind, fields[key]));
  return true;
}

export function isActivity(fields: Fields): boolean {
  return isTypedActivity(fields) || keyedActivity(fields) !== undefined;
}

function isTypedActivity(fields: Fields): boolean {
  const { type } = fields;
  if (typeof type !== "string") return false;
  if (type === "tool_use") return "tool_name" in fields;
  return type === "tool_stream" || isNodeEvent(type);
}

/** Null is no activity: apps send `structured_output` whether there is any or not. */
function keyedActivity(fields: Fields): (typeof KINDS)[number] | undefined {
  return KINDS.find(([key]) => fields[key] !== undefined && fields[key] !== null);
}

const KINDS: readonly (readonly [key: string, kind: ActivityKind])[] = [
  ["tool_cancel_event", "tool-cancelled"],
  ["tool_interrupt_event", "interrupted"],
  ["event_loop_throttled_delay", "retry-wait"],
  ["structured_output", "structured-result"],
];

function activity(state: StrandsState, kind: ActivityKind, raw: unknown): ActivitySeen {
  const toolUse = isObject(raw) ? raw["tool_use"] : undefined;
  return { type: "activity", kind, ...toolFacts(state, toolUse), raw };
}

function toolFacts(
  { settings }: StrandsState,
  toolUse: unknown,
): { readonly callId?: string; readonly label?: string } {
  if (!isObject(toolUse)) return {};
  const { toolUseId, name } = toolUse;
  return {
    ...(typeof toolUseId === "string" && { callId: toolUseId }),
    ...(typeof name === "string" && { label: displayName(name, settings.displayNames) }),
  };
}

/** Apps announce a tool beside the call itself, and some announce it again with every copy of the message. */
function announce(state: StrandsState, fields: Fields, emit: Out): true {
  const { tool_name: name, debug_data: raw } = fields;
  const callId = announcedCall(raw);
  if (callId !== undefined && !rememberAnnounced(state, callId)) return true;
  emit({
    type: "activity",
    kind: "tool-announced",
    ...(callId !== undefined && { callId }),
    label: announcedName(typeof name === "string" ? name : undefined),
    ...(raw !== undefined && { raw }),
  });
  return true;
}

function announcedCall(debugData: unknown): string | undefined {
  const message = isObject(debugData) ? debugData["message"] : undefined;
  const content = isObject(message) ? message["content"] : undefined;
  if (!Array.isArray(content)) return undefined;
  for (const block of content as readonly unknown[]) {
    const toolUse = isObject(block) ? block["toolUse"] : undefined;
    if (isObject(toolUse) && typeof toolUse["toolUseId"] === "string") return toolUse["toolUseId"];
  }
  return undefined;
}

/** What a tool tells while it runs. An agent that serves as a tool tells its whole stream here. */
function progress(state: StrandsState, fields: Fields, emit: Out): true {
  const { tool_stream_event: event } = fields;
  const { tool_use, data } = isObject(event) ? event : {};
  noteNested(state, data);
  emit({ type: "activity", kind: "tool-progress", ...toolFacts(state, tool_use), raw: data });
  return true;
}
