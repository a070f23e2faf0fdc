import { isObject } from "../../domain/json.ts";
import type { ProviderEvent } from "../../domain/provider-event.ts";
import { diagnose } from "../converse/state.ts";
import { foldError, foldKnownError, isSuspect, KNOWN_ERROR_TEXTS } from "./errors.ts";
import { parseLenientJson } from "./lenient-json.ts";
import { foldBareText } from "./merged.ts";
import { isNoiseText } from "./noise.ts";
import type { HeldData, Out, StrandsState } from "./state.ts";
import { foldValue, isEventful } from "./values.ts";

/** The data of one server-sent event. */
interface EventData {
  readonly event: string;
  readonly data: string;
  readonly offset?: number;
}

export function foldData(state: StrandsState, { event, data, offset }: EventData, emit: Out): void {
  if (data === "" || data === END_MARKER) return;
  if (isNoiseText(state, data)) return passOver(state, emit);
  const parsed = parseLenientJson(data);
  if (event === "error") return foldErrorEvent(state, parsed.ok ? parsed.value : data, emit);
  if (!parsed.ok) return foldRaw(state, data, parsed.reason, emit);
  const json = { data, value: parsed.value, offset };
  if (state.rawTextSeen) foldAmongRawText(state, json, emit);
  else foldAmongJson(state, json, emit);
}

/** By habit of other streams some apps end theirs with it; it says nothing that the stream's end does not say. */
const END_MARKER = "[DONE]";

/** Counts a line that repeats what was heard. The agent goes on with its turn. */
export function passOver(state: StrandsState, emit: Out): void {
  releaseAsEvents(state, emit);
  state.skipped += 1;
  state.suspect = null;
}

/** Gives up waiting for raw text: what was held back is what an app with JSON means by it. */
export function releaseAsEvents(state: StrandsState, emit: Out): void {
  for (const held of state.held.splice(0)) foldJson(state, held, emit);
}

/** An app that sends its strings as they are may send some that happen to be JSON. */
function foldAmongRawText(state: StrandsState, json: HeldData, emit: Out): void {
  const { data, value } = json;
  releaseAsText(state, emit);
  if (isEventful(value)) foldJson(state, json, emit);
  // Behind an error nothing comes; behind a text that speaks of one, more text does.
  else if (isObject(value) && isSuspect(value)) state.held.push(json);
  else if (isTextLike(value)) foldBareText(state, data, emit);
  else foldJson(state, json, emit);
}

/** A list or a number may well be a piece of a sentence; an object with fields is an event of the app's own. */
function isTextLike(value: unknown): boolean {
  return !isObject(value) || Object.keys(value).length === 0 || isSuspect(value);
}

/** What nobody knows may be raw text, until the app has sent a string in quotes or an agent has spoken in events. */
function foldAmongJson(state: StrandsState, json: HeldData, emit: Out): void {
  const { data, value } = json;
  const isQuoted = /^\s*"/.test(data);
  const waits = mayBeText(state, value) && !isQuoted && !isEventful(value);
  if (typeof value === "object") state.structureSeen = true;
  if (isQuoted) state.quotedTextSeen = true;
  if (waits) state.held.push(json);
  if (waits && !isFull(state.held)) return;
  releaseAsEvents(state, emit);
  if (!waits) foldJson(state, json, emit);
}

function mayBeText(
  { held, heard, quotedTextSeen, structureSeen }: StrandsState,
  value: unknown,
): boolean {
  if (held.length > 0) return true;
  const isSettled = quotedTextSeen || (structureSeen && heard !== null);
  return typeof value === "object" && !isSettled;
}

const MOST_HELD = 32;
const MOST_HELD_CHARACTERS = 64 * 1024;

function isFull(held: readonly HeldData[]): boolean {
  let characters = 0;
  for (const { data } of held) characters += data.length;
  return held.length > MOST_HELD || characters > MOST_HELD_CHARACTERS;
}

function releaseAsText(state: StrandsState, emit: Out): void {
  for (const held of state.held.splice(0)) {
    if (isTextLike(held.value)) foldBareText(state, held.data, emit);
    else foldJson(state, held, emit);
  }
}

function foldJson(state: StrandsState, { data, value, offset }: HeldData, emit: Out): void {
  if (typeof value === "number" || typeof value === "boolean") {
    return foldBareText(state, data, emit);
  }
  const keepsBig = state.settings.bigIntegers === "bigint";
  foldValue(state, value, (out) => {
    const placed = withPlace(out, offset);
    emit(keepsBig ? withBigIntegers(placed, value, data) : placed);
  });
}

function withPlace(event: ProviderEvent, offset: number | undefined): ProviderEvent {
  if (offset === undefined || event.type !== "diagnostic") return event;
  const { diagnostic } = event;
  return { type: "diagnostic", diagnostic: { ...diagnostic, offset: diagnostic.offset ?? offset } };
}

/** Big integers are text while they are folded: nothing behind this point can write them as JSON. */
function withBigIntegers(event: ProviderEvent, value: unknown, data: string): ProviderEvent {
  if (event.type !== "unknown" || event.raw !== value) return event;
  const parsed = parseLenientJson(data, { bigIntegers: "bigint" });
  return parsed.ok ? { ...event, raw: parsed.value } : event;
}

/** Data that is no JSON: an app's own text, an error that was printed, or a broken line. */
function foldRaw(state: StrandsState, data: string, reason: string, emit: Out): void {
  const known = [...KNOWN_ERROR_TEXTS, ...state.settings.errorTexts];
  if (known.some((text) => data.includes(text))) return foldKnownError(state, data, emit);
  if (!state.rawTextSeen && isBroken(state, data)) {
    const message = `Data cannot be read as JSON: ${reason}`;
    state.hole ??= message;
    emit({ type: "unknown", what: "event", name: "data", raw: data });
    return diagnose(state.converse, "malformed_event", message, emit);
  }
  state.rawTextSeen = true;
  releaseAsText(state, emit);
  foldBareText(state, data, emit);
}

/** Where text comes in quotes, nothing else may begin like JSON; else a bracket or a quote may well begin a text. */
function isBroken({ quotedTextSeen, structureSeen }: StrandsState, data: string): boolean {
  if (quotedTextSeen) return /^\s*["[{]/.test(data);
  return structureSeen && /^\s*\[?\{"\w+":/.test(data);
}

function foldErrorEvent(state: StrandsState, value: unknown, emit: Out): void {
  releaseAsEvents(state, emit);
  foldError(state, isObject(value) ? value : { error: value }, emit);
}
