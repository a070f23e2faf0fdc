import { isObject } from "../../data/json.ts";
import { diagnose, keepUnknown } from "../converse/state.ts";
import { foldBareText } from "./merged-event.ts";
import { parseLenientJson } from "./python/lenient-json.ts";
import { recoverRepr } from "./python/recover-repr.ts";
import type { Fields, EmitEvent, StrandsState } from "./state.ts";
import { foldStrandsEvent, isStrandsEvent, isUnderstoodEvent } from "./strands-event.ts";
import { isError, isSuspectedError } from "./stream-errors.ts";

/** Folds one value of the stream: text, an event, a list of events, or an unknown value. */
export function foldValue(state: StrandsState, value: unknown, emit: EmitEvent, level = 0): void {
  if (typeof value === "string") return foldString(state, value, emit, level);
  if (isEventList(value)) {
    for (const event of value) foldValue(state, event, emit, level);
    return;
  }
  const isUnderstood = isObject(value) && foldStrandsEvent(state, value, emit);
  if (!isUnderstood) foldUnknown(state, value, emit);
}

/** Returns whether a value is a known event or a list of known events. */
export function isUnderstoodValue(value: unknown): boolean {
  return isObject(value) ? isUnderstoodEvent(value) : isEventList(value);
}

function isEventList(value: unknown): value is readonly Fields[] {
  return Array.isArray(value) && value.length > 0 && value.every(isStrandsEvent);
}

function foldUnknown(state: StrandsState, value: unknown, emit: EmitEvent): void {
  if (isObject(value) && isSuspectedError(value)) state.suspectedError = value;
  keepUnknown(state.converse, { what: "event", name: toEventName(value), raw: value }, emit);
}

function toEventName(value: unknown): string {
  if (!isObject(value)) return value === null ? "null" : typeof value;
  const { type } = value;
  return typeof type === "string" ? type : (Object.keys(value)[0] ?? "");
}

const MAX_LEVELS = 3;

/** A string may be text, the repr of an event, an event as JSON, or a piece of an event stream. */
function foldString(state: StrandsState, text: string, emit: EmitEvent, level: number): void {
  const recovered = recoverRepr(text);
  if (recovered.type === "event") return foldValue(state, recovered.fields, emit, level);
  if (recovered.type === "lost") return foldLostRepr(state, recovered.key, recovered.reason, emit);
  const inner = level < MAX_LEVELS ? readNestedValues(text) : [];
  if (inner.length === 0) return foldBareText(state, text, emit);
  for (const value of inner) {
    // A model may write text which parses as an error; it counts as an error only at the end of the stream.
    if (isObject(value) && isError(value)) foldUnknown(state, value, emit);
    else foldValue(state, value, emit, level + 1);
  }
}

function readNestedValues(text: string): unknown[] {
  if (text.startsWith("{")) {
    const parsed = parseLenientJson(text);
    return parsed.ok && isStrandsEvent(parsed.value) ? [parsed.value] : [];
  }
  return readNestedSse(text);
}

const MESSAGE_KEYS: ReadonlySet<string> = new Set(["event", "message", "data"]);

function foldLostRepr(state: StrandsState, key: string, reason: string, emit: EmitEvent): void {
  const message = `The repr of a "${key}" event cannot be read: ${reason}`;
  if (MESSAGE_KEYS.has(key)) state.missingContent ??= message;
  diagnose(state.converse, "content_lost", message, emit);
}

/**
 * Reads the data of an event stream sent inside a string. Empty for any other text, such as an answer about event
 * streams.
 */
function readNestedSse(text: string): unknown[] {
  if (!/^(?:data|event|id|retry|):/.test(text) || !/\n\r?\n$/.test(text)) return [];
  const values: unknown[] = [];
  let data: string[] = [];
  for (const line of text.split(/\r?\n/)) {
    const [, name, value] = FIELD.exec(line) ?? [];
    if (name === "data") data.push(value ?? "");
    else if (line === "" && data.length > 0) {
      const parsed = parseLenientJson(data.join("\n"));
      if (!parsed.ok) return [];
      values.push(parsed.value);
      data = [];
    } else if (line !== "" && name === undefined) return [];
  }
  return values;
}

const FIELD = /^(data|event|id|retry|): ?(.*)$/s;
