import { isObject } from "../../data/json.ts";
import type { ProviderEvent } from "../../domain/provider/provider-event.ts";
import { diagnose } from "../converse/state.ts";
import { foldError, foldKnownError, isSuspectedError, KNOWN_ERROR_TEXTS } from "./stream-errors.ts";
import { parseLenientJson } from "./python/lenient-json.ts";
import { foldBareText } from "./merged-event.ts";
import { isNoiseText } from "./noise.ts";
import type { PendingData, EmitEvent, StrandsState } from "./state.ts";
import { foldValue, isUnderstoodValue } from "./values.ts";

/** The data of one server-sent event. */
interface EventData {
  readonly event: string;
  readonly data: string;
  readonly offset?: number;
}

export function foldData(
  state: StrandsState,
  { event, data, offset }: EventData,
  emit: EmitEvent,
): void {
  if (data === "" || data === END_MARKER) return;
  if (isNoiseText(state, data)) return skipLine(state, emit);
  const parsed = parseLenientJson(data);
  if (event === "error") return foldErrorEvent(state, parsed.ok ? parsed.value : data, emit);
  if (!parsed.ok) return foldRawText(state, data, parsed.reason, emit);
  const json = { data, value: parsed.value, offset };
  if (state.hasRawText) foldAmongRawText(state, json, emit);
  else foldAmongJson(state, json, emit);
}

/** Some apps end their stream with the marker known from the OpenAI API. The marker is ignored. */
const END_MARKER = "[DONE]";

/** Counts a line which repeats earlier content. The line also shows that the turn continues after a suspected error. */
export function skipLine(state: StrandsState, emit: EmitEvent): void {
  flushAsEvents(state, emit);
  state.skippedLines += 1;
  state.suspectedError = null;
}

/** Folds the pending data as events: no raw text followed, so the app sends JSON. */
export function flushAsEvents(state: StrandsState, emit: EmitEvent): void {
  for (const pending of state.pendingData.splice(0)) foldJson(state, pending, emit);
}

/** An app which sends strings without quotes may send some strings that are valid JSON. */
function foldAmongRawText(state: StrandsState, json: PendingData, emit: EmitEvent): void {
  const { data, value } = json;
  flushAsText(state, emit);
  if (isUnderstoodValue(value)) foldJson(state, json, emit);
  // Data after this object shows that the object is text; at the end of the stream, the object is an error.
  else if (isObject(value) && isSuspectedError(value)) state.pendingData.push(json);
  else if (isTextLikeValue(value)) foldBareText(state, data, emit);
  else foldJson(state, json, emit);
}

/** A list or a number may be a piece of a sentence. An object with fields is an event of the app. */
function isTextLikeValue(value: unknown): boolean {
  return !isObject(value) || Object.keys(value).length === 0 || isSuspectedError(value);
}

/** Unknown JSON may be raw text. The decision waits until the app sends a quoted string or an event of an agent. */
function foldAmongJson(state: StrandsState, json: PendingData, emit: EmitEvent): void {
  const { data, value } = json;
  const isQuoted = /^\s*"/.test(data);
  const isPending = isPossibleText(state, value) && !isQuoted && !isUnderstoodValue(value);
  if (typeof value === "object") state.hasStructures = true;
  if (isQuoted) state.hasQuotedText = true;
  if (isPending) state.pendingData.push(json);
  if (isPending && !isPendingFull(state.pendingData)) return;
  flushAsEvents(state, emit);
  if (!isPending) foldJson(state, json, emit);
}

function isPossibleText(
  { pendingData, trackedMessage, hasQuotedText, hasStructures }: StrandsState,
  value: unknown,
): boolean {
  if (pendingData.length > 0) return true;
  const isSettled = hasQuotedText || (hasStructures && trackedMessage !== null);
  return typeof value === "object" && !isSettled;
}

const MAX_PENDING_DATA = 32;
const MAX_PENDING_CHARACTERS = 64 * 1024;

function isPendingFull(pendingData: readonly PendingData[]): boolean {
  let characters = 0;
  for (const { data } of pendingData) characters += data.length;
  return pendingData.length > MAX_PENDING_DATA || characters > MAX_PENDING_CHARACTERS;
}

function flushAsText(state: StrandsState, emit: EmitEvent): void {
  for (const pending of state.pendingData.splice(0)) {
    if (isTextLikeValue(pending.value)) foldBareText(state, pending.data, emit);
    else foldJson(state, pending, emit);
  }
}

function foldJson(
  state: StrandsState,
  { data, value, offset }: PendingData,
  emit: EmitEvent,
): void {
  if (typeof value === "number" || typeof value === "boolean") {
    return foldBareText(state, data, emit);
  }
  const keepsBigIntegers = state.settings.bigIntegers === "bigint";
  foldValue(state, value, (out) => {
    const eventWithOffset = addDiagnosticOffset(out, offset);
    emit(keepsBigIntegers ? restoreBigIntegers(eventWithOffset, value, data) : eventWithOffset);
  });
}

function addDiagnosticOffset(event: ProviderEvent, offset: number | undefined): ProviderEvent {
  if (offset === undefined || event.type !== "diagnostic") return event;
  const { diagnostic } = event;
  return { type: "diagnostic", diagnostic: { ...diagnostic, offset: diagnostic.offset ?? offset } };
}

/** Big integers are strings while they are folded, because the following stages cannot serialize a bigint as JSON. */
function restoreBigIntegers(event: ProviderEvent, value: unknown, data: string): ProviderEvent {
  if (event.type !== "unknown" || event.raw !== value) return event;
  const parsed = parseLenientJson(data, { bigIntegers: "bigint" });
  return parsed.ok ? { ...event, raw: parsed.value } : event;
}

/** Folds data which is not JSON: text of the app, a printed error, or a broken line. */
function foldRawText(state: StrandsState, data: string, reason: string, emit: EmitEvent): void {
  const errorTexts = [...KNOWN_ERROR_TEXTS, ...state.settings.errorTexts];
  if (errorTexts.some((text) => data.includes(text))) return foldKnownError(state, data, emit);
  if (!state.hasRawText && isBrokenJson(state, data)) {
    const message = `Data cannot be read as JSON: ${reason}`;
    state.missingContent ??= message;
    emit({ type: "unknown", what: "event", name: "data", raw: data });
    return diagnose(state.converse, "malformed_event", message, emit);
  }
  state.hasRawText = true;
  flushAsText(state, emit);
  foldBareText(state, data, emit);
}

/**
 * If the app sends quoted strings, any other data starting like JSON is broken. Otherwise a bracket or a quote may
 * start a text, and only data starting like an event is broken.
 */
function isBrokenJson({ hasQuotedText, hasStructures }: StrandsState, data: string): boolean {
  if (hasQuotedText) return /^\s*["[{]/.test(data);
  return hasStructures && /^\s*\[?\{"\w+":/.test(data);
}

function foldErrorEvent(state: StrandsState, value: unknown, emit: EmitEvent): void {
  flushAsEvents(state, emit);
  foldError(state, isObject(value) ? value : { error: value }, emit);
}
