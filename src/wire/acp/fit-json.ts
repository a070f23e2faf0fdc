import { isObject, toJsonText } from "../../data/json.ts";

/** Default limit of a line in bytes: some clients stop reading at 64 KiB. */
export const DEFAULT_LINE_BYTES = 48 * 1024;
/** Bytes of a line reserved for field names, ids and braces. */
export const LINE_MARGIN = 1024;

/** Returns true if the value as JSON has at most `bytes` UTF-8 bytes. */
export function fits(value: unknown, bytes: number): boolean {
  const isShort = typeof value === "string" && value.length * MAX_ESCAPED_BYTES + 2 <= bytes;
  if (isShort) return true;
  const text = toJsonText(value);
  if (text.length > bytes) return false;
  return text.length * MAX_UTF8_BYTES <= bytes || encoder.encode(text).length <= bytes;
}

/** Returns the length of the value as JSON, in UTF-8 bytes. */
export function measureJsonBytes(value: unknown): number {
  return encoder.encode(toJsonText(value)).length;
}

/**
 * Returns the value, or a shortened copy within the limit: strings lose their middle, lists and objects lose their last
 * entries.
 */
export function fitValue(value: unknown, bytes: number): unknown {
  if (fits(value, bytes)) return value;
  for (let maxLength = 8192; maxLength >= 32; maxLength /= 4) {
    const less = shrinkValue(value, maxLength);
    if (fits(less, bytes)) return less;
  }
  return "(too long to be shown)";
}

/** Like `fitValue`, but returns an empty object if the object is too large even when shortened. */
export function fitObject(value: object, bytes: number): object {
  const less = fitValue(value, bytes);
  return isObject(less) ? less : {};
}

/** Returns the text, or its beginning and its end if the whole text exceeds the limit. */
export function fitText(text: string, bytes: number): string {
  let result = text;
  for (
    let maxLength = bytes;
    maxLength > 0 && !fits(result, bytes);
    maxLength = Math.floor(maxLength / 2)
  ) {
    result = cutText(text, maxLength);
  }
  return result;
}

/** Returns the longest prefix of `items` whose JSON fits into `bytes`. */
export function takeFitting<Item>(items: readonly Item[], bytes: number): readonly Item[] {
  if (fits(items, bytes)) return items;
  let remainingBytes = bytes;
  const end = items.findIndex((item) => {
    const size = encoder.encode(toJsonText(item)).length + 1;
    remainingBytes -= size;
    return remainingBytes < 1;
  });
  return items.slice(0, end);
}

/**
 * Splits text into pieces of at most `characters` UTF-16 code units. A surrogate pair is never split: half of a pair is
 * lost when sent alone.
 */
export function* splitText(text: string, characters: number): Generator<string> {
  for (let at = 0; at < text.length;) {
    const end = alignToCharacter(text, Math.min(at + characters, text.length));
    yield text.slice(at, end);
    at = end;
  }
}

/** The most bytes that JSON takes for a single UTF-16 code unit (`\u0001`). */
export const MAX_ESCAPED_BYTES = 6;

const MAX_UTF8_BYTES = 3;
const encoder = new TextEncoder();

function shrinkValue(value: unknown, maxLength: number): unknown {
  if (typeof value === "string") return cutText(value, maxLength);
  const items = Math.max(maxLength / 32, 4);
  if (Array.isArray(value))
    return value.slice(0, items).map((item) => shrinkValue(item, maxLength));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).slice(0, Math.max(items, MIN_KEYS));
  // Not an object literal: a key `__proto__` is data.
  return Object.fromEntries(entries.map(([name, item]) => [name, shrinkValue(item, maxLength)]));
}

/** Objects built by Spanline have at most 24 keys, so shortening never removes their fields. */
const MIN_KEYS = 24;

function cutText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const head = alignToCharacter(text, Math.ceil((maxLength * 2) / 3));
  const tail = alignToCharacter(text, text.length - Math.floor(maxLength / 3));
  return `${text.slice(0, head)}\n… ${tail - head} characters are not shown …\n${text.slice(tail)}`;
}

/** Moves `end` back by a code unit if it would split a surrogate pair. */
export function alignToCharacter(text: string, end: number): number {
  const last = text.charCodeAt(end - 1);
  const isCut = end < text.length && last >= 0xd800 && last <= 0xdbff;
  return isCut && end > 1 ? end - 1 : end;
}
