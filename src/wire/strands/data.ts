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

/** By habit of other streams some apps end theirs with it; it says nothing that the stream's end does not say. */
const END_MARKER = "[DONE]";

/** Counts a line that repeats what was heard. The agent goes on with its turn. */
export function skipLine(state: StrandsState, emit: EmitEvent): void {
  flushAsEvents(state, emit);
  state.skippedLines += 1;
  state.suspectedError = null;
}

/** Gives up waiting for raw text: what was held back is what an app with JSON means by it. */
export function flushAsEvents(state: StrandsState, emit: EmitEvent): void {
  for (const pending of state.pendingData.splice(0)) foldJson(state, pending, emit);
}

/** An app that sends its strings as they are may send some that happen to be JSON. */
function foldAmongRawText(state: StrandsState, json: PendingData, emit: EmitEvent): void {
  const { data, value } = json;
  flushAsText(state, emit);
  if (isUnderstoodValue(value)) foldJson(state, json, emit);
  // Behind an error nothing comes; behind a text that speaks of one, more text does.
  else if (isObject(value) && isSuspectedError(value)) state.pendingData.push(json);
  else if (isTextLikeValue(value)) foldBareText(state, data, emit);
  else foldJson(state, json, emit);
}

/** A list or a number may well be a piece of a sentence; an object with fields is an event of the app's own. */
function isTextLikeValue(value: unknown): boolean {
  return !isObject(value) || Object.keys(value).length === 0 || isSuspectedError(value);
}

/** What nobody knows may be raw text, until the app has sent a string in quotes or an agent has spoken in events. */
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

/** Big integers are text while they are folded: nothing behind this point can write them as JSON. */
function restoreBigIntegers(event: ProviderEvent, value: unknown, data: string): ProviderEvent {
  if (event.type !== "unknown" || event.raw !== value) return event;
  const parsed = parseLenientJson(data, { bigIntegers: "bigint" });
  return parsed.ok ? { ...event, raw: parsed.value } : event;
}

/** Data that is no JSON: an app's own text, an error that was printed, or a broken line. */
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

/** Where text comes in quotes, nothing else may begin like JSON; else a bracket or a quote may well begin a text. */
function isBrokenJson({ hasQuotedText, hasStructures }: StrandsState, data: string): boolean {
  if (hasQuotedText) return /^\s*["[{]/.test(data);
  return hasStructures && /^\s*\[?\{"\w+":/.test(data);
}

function foldErrorEvent(state: StrandsState, value: unknown, emit: EmitEvent): void {
  flushAsEvents(state, emit);
  foldError(state, isObject(value) ? value : { error: value }, emit);
}
