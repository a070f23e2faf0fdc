import { isObject, jsonText, type JsonObject, type JsonValue } from "../../domain/json.ts";
import { fits, wholeEnd } from "./fitted.ts";

/**
 * Arguments cut to a number of bytes. A note stands in place of everything that is left out. Each note names `id`, which
 * the agent did not know when it wrote the arguments, so that no argument contains one by accident.
 */
export function previewArguments(args: JsonObject, bytes: number, id: string): JsonObject {
  for (let length = MAX_TEXT; length >= MIN_TEXT; length /= 4) {
    const preview = cutObject(args, { length, id });
    if (fits(preview, bytes)) return preview;
  }
  return { [noteOf(jsonText(args).length, "characters", id)]: null };
}

/** Whether edited arguments contain a note of a preview that the original arguments do not contain. */
export function containsPreview(edited: JsonObject, original: JsonObject): boolean {
  const notes = jsonText(edited).match(NOTE) ?? [];
  if (notes.length === 0) return false;
  const text = jsonText(original);
  return notes.some((note) => !text.includes(note));
}

const MAX_TEXT = 8192;
const MIN_TEXT = 32;
/** Members of one object, and items of one list: objects of people have fewer. */
const MAX_ITEMS = 100;

const NOTE = /\[preview of [^\]\s]+: \d+ [a-z]+ not shown\]/g;

function noteOf(count: number, unit: string, id: string): string {
  return `[preview of ${id}: ${count} ${unit} not shown]`;
}

interface Cut {
  /** Characters of each text. */
  readonly length: number;
  readonly id: string;
}

function cutValue(value: JsonValue, cut: Cut): JsonValue {
  if (typeof value === "string") return cutText(value, cut);
  if (Array.isArray(value)) {
    const shown = value.slice(0, itemsOf(cut)).map((item: JsonValue) => cutValue(item, cut));
    const rest = value.length - shown.length;
    return rest === 0 ? shown : [...shown, noteOf(rest, "items", cut.id)];
  }
  return isObject(value) ? cutObject(value, cut) : value;
}

function cutObject(object: JsonObject, cut: Cut): JsonObject {
  const entries = Object.entries(object);
  const shown = entries
    .slice(0, itemsOf(cut))
    .map(([name, value]): [string, JsonValue] => [cutText(name, cut), cutValue(value, cut)]);
  const rest = entries.length - shown.length;
  if (rest > 0) shown.push([noteOf(rest, "members", cut.id), null]);
  // Not an object literal: a key `__proto__` is data.
  return Object.fromEntries(shown);
}

function itemsOf({ length }: Cut): number {
  return Math.min(MAX_ITEMS, Math.max(4, length / 8));
}

function cutText(text: string, { length, id }: Cut): string {
  if (text.length <= length) return text;
  const head = wholeEnd(text, Math.ceil((length * 2) / 3));
  const tail = wholeEnd(text, text.length - Math.floor(length / 3));
  const note = noteOf(tail - head, "characters", id);
  return `${text.slice(0, head)}\n${note}\n${text.slice(tail)}`;
}
