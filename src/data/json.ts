import { copyString } from "../text/text-builder.ts";

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;

export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/**
 * True for JSON objects and other keyed values, false for arrays and null. The first check of every `unknown` value.
 */
export function isObject(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export type ParsedJson =
  | { readonly ok: true; readonly value: JsonValue }
  | {
      readonly ok: false;
      readonly reason: string;
      /** True if the text is nested too deep or has too many values. Such a text was not parsed. */
      readonly exceedsLimit?: true;
    };

/**
 * Levels of nesting. Deeper than any real tool or agent output, and far below the depth that overflows a recursive
 * reader.
 */
export const MAX_JSON_DEPTH = 500;

/** Values per text. An empty object is two characters of text and 64 bytes of memory. */
export const MAX_JSON_VALUES = 4_000_000;

/** Values per request (an HTTP body or a JSON line). A million empty objects are 3 MB of text and 100 MB of memory. */
export const MAX_REQUEST_VALUES = 250_000;

/** Members per request. Names are slow to parse, compare and sort: at this limit a request takes a second or two. */
export const MAX_REQUEST_MEMBERS = 200_000;

/**
 * Parses untrusted JSON text. Never throws. Refuses nesting that would make a later `JSON.stringify` throw, and text
 * whose values need many times its memory.
 */
export function parseJson(text: string): ParsedJson {
  if (isTooDeep(text)) return createLimitError(`Nested deeper than ${MAX_JSON_DEPTH} levels`);
  if (hasTooManyValues(text)) return createLimitError(`More than ${MAX_JSON_VALUES} values`);
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (error) {
    // V8's message quotes the text by a slice, which would keep the whole text in memory.
    const reason = copyString(error instanceof Error ? error.message : String(error));
    return { ok: false, reason };
  }
}

export function createLimitError(reason: string): Extract<ParsedJson, { readonly ok: false }> {
  return { ok: false, reason, exceedsLimit: true };
}

/** True if JSON text has more values than allowed for a single text. A key and its value count once. */
export function hasTooManyValues(text: string, max = MAX_JSON_VALUES): boolean {
  return text.length > max && countValues(text, max) > max;
}

/** The number of values in JSON text. Counting stops above `max`. */
export function countValues(text: string, max: number): number {
  let values = 0;
  let isFirst = true;
  for (let at = 0; at < text.length && values <= max; at++) {
    const code = text.charCodeAt(at);
    if (isSpace(code)) continue;
    const closes = code === CLOSE_BRACKET || code === CLOSE_BRACE;
    if (code === COMMA || (isFirst && !closes)) values += 1;
    isFirst = code === OPEN_BRACKET || code === OPEN_BRACE;
    if (code === QUOTE) at = findStringEnd(text, at) - 1;
  }
  return values;
}

/** True if all objects in JSON text together have more than `maxMembers` members. */
export function hasMoreMembers(text: string, maxMembers: number): boolean {
  return countMembers(text, maxMembers) > maxMembers;
}

/** The number of members of all objects in JSON text. Counting stops above `max`. */
export function countMembers(text: string, max: number): number {
  let members = 0;
  for (let at = 0; at < text.length && members <= max; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = findStringEnd(text, at) - 1;
    else if (code === COLON) members += 1;
  }
  return members;
}

/**
 * Encodes a value as JSON text. A value without a JSON form (a bigint, a cycle, a nesting too deep) becomes a string
 * with the reason.
 */
export function toJsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "null";
  } catch (error) {
    return JSON.stringify(`[no JSON form: ${error instanceof Error ? error.message : "unknown"}]`);
  }
}

/** True if JSON text has an integer without an exact double: parsing such text changes the number. */
export function hasInexactInteger(text: string): boolean {
  if (!/\d{16}/.test(text)) return false;
  let at = 0;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = findStringEnd(text, at);
    else if (isDigit(code)) {
      const end = findNumberEnd(text, at);
      const number = text.slice(at, end);
      if (number.length >= 16 && /^\d+$/.test(number) && String(Number(number)) !== number)
        return true;
      at = end;
    } else at += 1;
  }
  return false;
}

/**
 * The index after the closing quote of the string starting at `start`. The length of the text if the string is not
 * closed.
 */
export function findStringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at += 1;
    else if (code === QUOTE) return at + 1;
  }
  return text.length;
}

function findNumberEnd(text: string, start: number): number {
  let at = start;
  while (at < text.length && (isDigit(text.charCodeAt(at)) || ".eE+-".includes(text.charAt(at))))
    at++;
  return at;
}

function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d);
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/**
 * True if the nesting exceeds `MAX_JSON_DEPTH`. Native searches count the brackets first; only text with many brackets
 * is scanned by character.
 */
function isTooDeep(text: string): boolean {
  if (text.length <= 2 * MAX_JSON_DEPTH) return false;
  const brackets = countUpTo(text, "[") + countUpTo(text, "{");
  return brackets > MAX_JSON_DEPTH && measureDepth(text) > MAX_JSON_DEPTH;
}

function countUpTo(text: string, bracket: string): number {
  let count = 0;
  for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) {
    count += 1;
    if (count > MAX_JSON_DEPTH) break;
  }
  return count;
}

function measureDepth(text: string): number {
  let depth = 0;
  let maxDepth = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (quoted) {
      if (code === BACKSLASH) at += 1;
      else if (code === QUOTE) quoted = false;
    } else if (code === QUOTE) quoted = true;
    else if (code === OPEN_BRACKET || code === OPEN_BRACE)
      maxDepth = Math.max(maxDepth, (depth += 1));
    else if (code === CLOSE_BRACKET || code === CLOSE_BRACE) depth -= 1;
  }
  return maxDepth;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** True if a value has more than `levels` levels of nesting. The recursion stops at this depth. */
export function exceedsDepth(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => exceedsDepth(inner, levels - 1));
}
