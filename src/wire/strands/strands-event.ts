import { isObject } from "../../data/json.ts";
import { keepUnknownFields } from "../converse/state.ts";
import { foldKeyedActivity, foldTypedActivity, isActivity } from "./activity.ts";
import { foldConverseEvent, isBareConverseEvent, isConverseEventName } from "./converse-events.ts";
import { foldError, foldForceStop, isError } from "./stream-errors.ts";
import { foldFullMessage } from "./full-message.ts";
import { closeDataMessage, foldMergedEvent, isMergedEvent } from "./merged-event.ts";
import { isMessage } from "./message-blocks.ts";
import { foldResult } from "./result.ts";
import { translateStrandsTs } from "./strands-ts.ts";
import type { Fields, EmitEvent, StrandsState } from "./state.ts";

/**
 * Folds one object of the stream as an agent event of any SDK. Returns false, without effect, if the object is not an
 * agent event.
 */
export function foldStrandsEvent(state: StrandsState, fields: Fields, emit: EmitEvent): boolean {
  const { type } = fields;
  const translated = typeof type === "string" ? translateStrandsTs(type, fields) : undefined;
  if (translated === undefined) return foldEvent(state, fields, emit);
  for (const event of translated) foldEvent(state, event, emit);
  return true;
}

/** Returns whether `foldStrandsEvent` would accept the object. */
export function isUnderstoodEvent(fields: Fields): boolean {
  const { type, event } = fields;
  return (
    isStrandsEvent(fields) ||
    isActivity(fields) ||
    isMergedEvent(fields) ||
    isError(fields) ||
    (type === undefined && isObject(event)) ||
    fields["force_stop"] === true ||
    "result" in fields ||
    "current_tool_use" in fields
  );
}

/** Returns whether an object is an event of an agent, in contrast to JSON written by a model. */
export function isStrandsEvent(value: unknown): value is Fields {
  if (!isObject(value)) return false;
  const { type, event, data, delta, message, result } = value;
  if (typeof type === "string" && (isAgUiType(type) || translateStrandsTs(type, value)))
    return true;
  if (isObject(event)) return Object.keys(event).some(isConverseEventName);
  return (
    isBareConverseEvent(value) ||
    isMessage(message) ||
    isMessage(result) ||
    (isObject(delta) && typeof data === "string") ||
    findLoopKey(value) !== undefined ||
    (isError(value) && "error_type" in value)
  );
}

function foldEvent(state: StrandsState, fields: Fields, emit: EmitEvent): boolean {
  if (foldLoopEvent(state, fields, emit)) return true;
  state.isCycleAnnounced = false;
  const { type, event } = fields;
  if (type === undefined && isObject(event)) {
    keepUnknownFields(state.converse, WRAPPED_EVENT, fields, emit);
    foldWrappedEvent(state, event, emit);
    return true;
  }
  if (typeof type === "string" && isAgUiType(type)) return foldAgUiEvent(state, type, fields, emit);
  if (foldTypedActivity(state, fields, emit)) return true;
  const hasActivity = foldKeyedActivity(state, fields, emit);
  if (hasActivity && !hasContent(fields)) return true;
  return foldContent(state, fields, emit) || hasActivity;
}

function foldLoopEvent(state: StrandsState, fields: Fields, emit: EmitEvent): boolean {
  const key = findLoopKey(fields);
  if (key === undefined) return false;
  state.hasLoopEvents = true;
  state.suspectedError = null;
  closeDataMessage(state, emit);
  if (state.trackedMessage !== null && !state.trackedMessage.isOpen)
    state.trackedMessage.isSettled = true;
  if (key === "init_event_loop") emit({ type: "activity", kind: "turn-started" });
  else if (!state.isCycleAnnounced) emit({ type: "activity", kind: "cycle-started" });
  // Each cycle is announced two or three times.
  state.isCycleAnnounced = key !== "init_event_loop";
  return true;
}

function findLoopKey(fields: Fields): (typeof LOOP_KEYS)[number] | undefined {
  return hasContent(fields) ? undefined : LOOP_KEYS.find((name) => fields[name] === true);
}

/** A loop key next to content does not make the object a loop event: apps use the same keys for their own purposes. */
function hasContent({ result, message, data }: Fields): boolean {
  return [result, message, data].some((content) => content !== undefined && content !== null);
}

const LOOP_KEYS = ["init_event_loop", "start", "start_event_loop"] as const;
const WRAPPED_EVENT = { name: "strands", fields: new Set(["event"]), maxValues: 1 };

/** Some apps wrap every event of the agent in another `event` object. */
function foldWrappedEvent(state: StrandsState, event: Fields, emit: EmitEvent): void {
  if (Object.keys(event).some(isConverseEventName) || !isStrandsEvent(event))
    foldConverseEvent(state, event, emit);
  else foldEvent(state, event, emit);
}

function foldContent(state: StrandsState, fields: Fields, emit: EmitEvent): boolean {
  const { message, stop_reason: reason } = fields;
  if (isError(fields)) foldError(state, fields, emit);
  else if (fields["force_stop"] === true) foldForceStop(state, fields);
  else if (isBareConverseEvent(fields)) foldConverseEvent(state, fields, emit);
  else if (isMessage(message)) {
    foldFullMessage(state, message, typeof reason === "string" ? reason : undefined, emit);
  } else if ("result" in fields) foldResult(state, fields["result"], emit);
  // Arguments in `current_tool_use` may be ahead of their Converse events and are never used.
  else return foldMergedEvent(state, fields, emit) || "current_tool_use" in fields;
  return true;
}

function isAgUiType(type: string): boolean {
  return AG_UI_TYPE.test(type);
}

const AG_UI_TYPE =
  /^(?:(?:RUN|STEP|TEXT_MESSAGE|TOOL_CALL|STATE|MESSAGES|THINKING|REASONING|ACTIVITY)_[A-Z_]+|RAW|CUSTOM)$/;

/** AG-UI events on the same endpoint are forwarded as unknown events; only the end of their run is interpreted. */
function foldAgUiEvent(state: StrandsState, type: string, fields: Fields, emit: EmitEvent): true {
  emit({ type: "unknown", what: "event", name: type, raw: fields });
  if (type === "RUN_FINISHED") {
    state.loopEnd = { reason: null };
    state.suspectedError = null;
  }
  if (type === "RUN_ERROR") {
    const { message: error, code = type } = fields;
    foldError(state, { ...fields, error, error_type: code }, emit);
  }
  return true;
}
