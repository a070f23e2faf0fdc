import { isObject } from "../../data/json.ts";
import type { ActivityKind, ActivityEvent } from "../../domain/provider/provider-event.ts";
import { formatAnnouncedName, resolveDisplayName } from "./display-names.ts";
import { foldNodeEvent, isNodeEvent, detectNestedEvents } from "./node-events.ts";
import {
  rememberAnnouncedToolCall,
  type Fields,
  type EmitEvent,
  type StrandsState,
} from "./state.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/** Emits an activity identified by the `type` of an event. Returns false if the event has a different type. */
export function foldTypedActivity(state: StrandsState, fields: Fields, emit: EmitEvent): boolean {
  const { type } = fields;
  if (!isTypedActivity(fields) || typeof type !== "string") return false;
  if (type === "tool_use") return foldToolAnnouncement(state, fields, emit);
  if (type === "tool_stream") return foldToolProgress(state, fields, emit);
  return foldNodeEvent(state, type, fields, emit);
}

/**
 * Emits an activity identified by a key of the event. The same event may also carry content. Returns false if no such
 * key is set.
 */
export function foldKeyedActivity(state: StrandsState, fields: Fields, emit: EmitEvent): boolean {
  const [key, kind] = findKeyedActivity(fields) ?? [];
  if (key === undefined || kind === undefined) return false;
  emit(createActivity(state, kind, fields[key]));
  return true;
}

export function isActivity(fields: Fields): boolean {
  return isTypedActivity(fields) || findKeyedActivity(fields) !== undefined;
}

function isTypedActivity(fields: Fields): boolean {
  const { type } = fields;
  if (typeof type !== "string") return false;
  if (type === "tool_use") return "tool_name" in fields;
  return type === "tool_stream" || isNodeEvent(type);
}

/** Null does not count: apps send `structured_output: null` if they have no output. */
function findKeyedActivity(fields: Fields): (typeof ACTIVITY_KINDS)[number] | undefined {
  return ACTIVITY_KINDS.find(([key]) => fields[key] !== undefined && fields[key] !== null);
}

const ACTIVITY_KINDS: readonly (readonly [key: string, kind: ActivityKind])[] = [
  ["tool_cancel_event", "tool-cancelled"],
  ["tool_interrupt_event", "interrupted"],
  ["event_loop_throttled_delay", "retry-wait"],
  ["structured_output", "structured-result"],
];

function createActivity(state: StrandsState, kind: ActivityKind, raw: unknown): ActivityEvent {
  const toolUse = isObject(raw) ? raw["tool_use"] : undefined;
  return { type: "activity", kind, ...readToolDetails(state, toolUse), raw };
}

function readToolDetails(
  { settings }: StrandsState,
  toolUse: unknown,
): { readonly toolCallId?: string; readonly label?: string } {
  if (!isObject(toolUse)) return {};
  const { toolUseId, name } = toolUse;
  return {
    ...(typeof toolUseId === "string" && { toolCallId: toolUseId }),
    ...(typeof name === "string" && { label: resolveDisplayName(name, settings.displayNames) }),
  };
}

/**
 * Apps announce a tool in addition to the tool call, and some apps repeat the announcement with every copy of the
 * message.
 */
function foldToolAnnouncement(state: StrandsState, fields: Fields, emit: EmitEvent): true {
  const { tool_name: name, debug_data: raw } = fields;
  const toolCallId = findAnnouncedToolCallId(raw);
  if (toolCallId !== undefined && !rememberAnnouncedToolCall(state, toolCallId)) return true;
  emit({
    type: "activity",
    kind: "tool-call-opened",
    ...omitUndefined({ toolCallId }),
    label: formatAnnouncedName(typeof name === "string" ? name : undefined),
    ...omitUndefined({ raw }),
  });
  return true;
}

function findAnnouncedToolCallId(debugData: unknown): string | undefined {
  const message = isObject(debugData) ? debugData["message"] : undefined;
  const content = isObject(message) ? message["content"] : undefined;
  if (!Array.isArray(content)) return undefined;
  for (const block of content as readonly unknown[]) {
    const toolUse = isObject(block) ? block["toolUse"] : undefined;
    if (isObject(toolUse) && typeof toolUse["toolUseId"] === "string") return toolUse["toolUseId"];
  }
  return undefined;
}

/** Emits the progress of a running tool. For a nested agent used as a tool, the progress is its whole stream. */
function foldToolProgress(state: StrandsState, fields: Fields, emit: EmitEvent): true {
  const { tool_stream_event: event } = fields;
  const { tool_use, data } = isObject(event) ? event : {};
  detectNestedEvents(state, data);
  emit({ type: "activity", kind: "tool-progress", ...readToolDetails(state, tool_use), raw: data });
  return true;
}
