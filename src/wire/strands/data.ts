import { isObject } from "../../domain/json.ts";
import type { ProviderEvent } from "../../domain/provider-event.ts";
import { diagnose, keepUnknown } from "../converse/state.ts";
import { foldAgentEvent, isAgentEvent } from "./agent-event.ts";
import { foldError, foldKnownError, KNOWN_ERROR_TEXTS } from "./errors.ts";
import { parseLenientJson } from "./lenient-json.ts";
import { foldBareText } from "./merged.ts";
import { readNestedSse } from "./nested-sse.ts";
import { isNoiseText } from "./noise.ts";
import { recoverRepr } from "./repr.ts";
import type { Out, StrandsState } from "./state.ts";

/** Folds the data of one server-sent event. */
export function foldData(state: StrandsState, event: string, data: string, emit: Out): void {
  if (data === "") return;
  if (isNoiseText(state, data)) {
    state.skipped += 1;
    return;
  }
  const parsed = parseLenientJson(data);
  if (event === "error") return foldErrorEvent(state, parsed.ok ? parsed.value : data, emit);
  if (!parsed.ok) return foldRaw(state, data, parsed.reason, emit);
  const { value } = parsed;
  // An app that sends its strings as they are may send one that happens to be JSON.
  if (state.rawTextSeen && !isStructure(value)) return foldBareText(state, data, emit);
  if (typeof value === "number" || typeof value === "boolean") {
    return foldBareText(state, data, emit);
  }
  state.jsonSeen = true;
  if (state.settings.bigIntegers === "string") return foldValue(state, value, emit);
  foldValue(state, value, (out) => emit(withBigIntegers(out, value, data)));
}

/** Big integers are text while they are folded: nothing behind this point can write them as JSON. */
function withBigIntegers(event: ProviderEvent, value: unknown, data: string): ProviderEvent {
  if (event.type !== "unknown" || event.raw !== value) return event;
  const parsed = parseLenientJson(data, { bigIntegers: "bigint" });
  return parsed.ok ? { ...event, raw: parsed.value } : event;
}

export function foldValue(state: StrandsState, value: unknown, emit: Out, level = 0): void {
  if (typeof value === "string") return foldString(state, value, emit, level);
  if (isObject(value)) return foldAgentEvent(state, value, emit);
  if (Array.isArray(value) && value.length > 0 && value.every(isAgentEvent)) {
    for (const event of value) foldAgentEvent(state, event, emit);
    return;
  }
  keepUnknown(
    state.converse,
    { what: "event", name: value === null ? "null" : typeof value, raw: value },
    emit,
  );
}

const MOST_LEVELS = 3;

/** A string may be text, the repr of an event, an event as JSON, or a piece of an event stream. */
function foldString(state: StrandsState, text: string, emit: Out, level: number): void {
  const recovered = recoverRepr(text);
  if (recovered.type === "event") return foldAgentEvent(state, recovered.fields, emit);
  if (recovered.type === "lost") return foldLost(state, recovered.key, recovered.reason, emit);
  const inner = level < MOST_LEVELS ? readInner(text) : [];
  if (inner.length === 0) return foldBareText(state, text, emit);
  for (const value of inner) foldValue(state, value, emit, level + 1);
}

function readInner(text: string): unknown[] {
  if (text.startsWith("{")) {
    const parsed = parseLenientJson(text);
    return parsed.ok && isAgentEvent(parsed.value) ? [parsed.value] : [];
  }
  return readNestedSse(text);
}

const CARRIES_A_MESSAGE: ReadonlySet<string> = new Set(["event", "message", "data"]);

function foldLost(state: StrandsState, key: string, reason: string, emit: Out): void {
  const message = `The repr of a "${key}" event cannot be read: ${reason}`;
  if (CARRIES_A_MESSAGE.has(key)) state.hole ??= message;
  diagnose(state.converse, "content_lost", message, emit);
}

/** Data that is no JSON: an app's own text, an error that was printed, or a broken line. */
function foldRaw(state: StrandsState, data: string, reason: string, emit: Out): void {
  const known = [...KNOWN_ERROR_TEXTS, ...state.settings.errorTexts];
  if (known.some((text) => data.includes(text))) return foldKnownError(state, data, emit);
  if (state.jsonSeen && !state.rawTextSeen && /^\s*["[{]/.test(data)) {
    const message = `Data cannot be read as JSON: ${reason}`;
    state.hole ??= message;
    emit({ type: "unknown", what: "event", name: "data", raw: data });
    return diagnose(state.converse, "malformed_event", message, emit);
  }
  state.rawTextSeen = true;
  foldBareText(state, data, emit);
}

function foldErrorEvent(state: StrandsState, value: unknown, emit: Out): void {
  const fields = isObject(value) ? value : { error: value };
  const { error, message } = fields;
  const said = [error, message].find((text) => typeof text === "string") ?? JSON.stringify(value);
  foldError(state, { ...fields, error: said }, emit);
}

function isStructure(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}
