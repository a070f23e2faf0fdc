import { isObject, jsonText } from "../../domain/json.ts";

/** How many bytes a line may have where nobody said: some clients stop reading at 64 KiB. */
export const LINE_BYTES = 48 * 1024;
/** Bytes of a line that its names, ids and braces may take. */
export const LINE_MARGIN = 1024;

/** Whether a value takes no more than this many bytes of JSON. */
export function fits(value: unknown, bytes: number): boolean {
  const text = jsonText(value);
  if (text.length > bytes) return false;
  return text.length * MOST_UTF8 <= bytes || encoder.encode(text).length <= bytes;
}

/** The length of a value as JSON, in UTF-8. */
export function jsonBytes(value: unknown): number {
  return encoder.encode(jsonText(value)).length;
}

/** The value, or as much of it as fits: texts, lists and objects lose what is far from their beginning. */
export function fitted(value: unknown, bytes: number): unknown {
  if (fits(value, bytes)) return value;
  for (let most = 8192; most >= 32; most /= 4) {
    const less = lessened(value, most);
    if (fits(less, bytes)) return less;
  }
  return "(too long to be shown)";
}

export function fittedObject(value: object, bytes: number): object {
  const less = fitted(value, bytes);
  return isObject(less) ? less : {};
}

/** A text, or its beginning and its end. */
export function fittedText(text: string, bytes: number): string {
  let shown = text;
  for (let most = bytes; most > 0 && !fits(shown, bytes); most = Math.floor(most / 2)) {
    shown = cutText(text, most);
  }
  return shown;
}

/** As many of the first items as fit. */
export function firstThatFit<Item>(items: readonly Item[], bytes: number): readonly Item[] {
  if (fits(items, bytes)) return items;
  let left = bytes;
  const end = items.findIndex((item) => {
    const size = encoder.encode(jsonText(item)).length + 1;
    left -= size;
    return left < 1;
  });
  return items.slice(0, end);
}

/** Text in pieces of so many characters. Half of a pair would not survive being sent alone. */
export function* pieces(text: string, characters: number): Generator<string> {
  for (let at = 0; at < text.length;) {
    const end = wholeEnd(text, Math.min(at + characters, text.length));
    yield text.slice(at, end);
    at = end;
  }
}

/** Six bytes for a character is the most that JSON takes. */
export const MOST_ESCAPED = 6;

const MOST_UTF8 = 3;
const encoder = new TextEncoder();

function lessened(value: unknown, most: number): unknown {
  if (typeof value === "string") return cutText(value, most);
  const items = Math.max(most / 32, 4);
  if (Array.isArray(value)) return value.slice(0, items).map((one) => lessened(one, most));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).slice(0, Math.max(items, FEWEST_KEYS));
  // Not an object literal: a key `__proto__` is data.
  return Object.fromEntries(entries.map(([name, one]) => [name, lessened(one, most)]));
}

/** What we make ourselves has no more, and stays whole. */
const FEWEST_KEYS = 20;

function cutText(text: string, most: number): string {
  if (text.length <= most) return text;
  const head = wholeEnd(text, Math.ceil((most * 2) / 3));
  const tail = wholeEnd(text, text.length - Math.floor(most / 3));
  return `${text.slice(0, head)}\n… ${tail - head} characters are not shown …\n${text.slice(tail)}`;
}

/** An end that does not cut a character in two. */
export function wholeEnd(text: string, end: number): number {
  const last = text.charCodeAt(end - 1);
  const isCut = end < text.length && last >= 0xd800 && last <= 0xdbff;
  return isCut && end > 1 ? end - 1 : end;
}
