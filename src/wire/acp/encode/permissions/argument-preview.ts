import { isObject, toJsonText, type JsonObject, type JsonValue } from "../../../../data/json.ts";
import { fits, alignToCharacter } from "../../fit-json.ts";

/**
 * Shortens arguments to a number of bytes. A note replaces every omitted part. Each note contains `id`, which the agent
 * could not know when it wrote the arguments, so arguments never contain a note by accident.
 */
export function previewArguments(args: JsonObject, bytes: number, id: string): JsonObject {
  for (let length = MAX_TEXT_LENGTH; length >= MIN_TEXT_LENGTH; length /= 4) {
    const preview = cutObject(args, { length, id });
    if (fits(preview, bytes)) return preview;
  }
  return { [formatNote(toJsonText(args).length, "characters", id)]: null };
}

/** Returns true if edited arguments contain a preview note which the original arguments do not contain. */
export function containsPreview(edited: JsonObject, original: JsonObject): boolean {
  const notes = toJsonText(edited).match(PREVIEW_NOTE) ?? [];
  if (notes.length === 0) return false;
  const text = toJsonText(original);
  return notes.some((note) => !text.includes(note));
}

const MAX_TEXT_LENGTH = 8192;
const MIN_TEXT_LENGTH = 32;
/** Limit for members of an object and items of a list. Hand-written arguments have fewer. */
const MAX_ITEMS = 100;

const PREVIEW_NOTE = /\[preview of [^\]\s]+: \d+ [a-z]+ not shown\]/g;

function formatNote(count: number, unit: string, id: string): string {
  return `[preview of ${id}: ${count} ${unit} not shown]`;
}

interface CutOptions {
  /** Characters of each string. */
  readonly length: number;
  readonly id: string;
}

function cutValue(value: JsonValue, cut: CutOptions): JsonValue {
  if (typeof value === "string") return cutText(value, cut);
  if (Array.isArray(value)) {
    const visibleItems = value
      .slice(0, computeItemLimit(cut))
      .map((item: JsonValue) => cutValue(item, cut));
    const omittedCount = value.length - visibleItems.length;
    return omittedCount === 0
      ? visibleItems
      : [...visibleItems, formatNote(omittedCount, "items", cut.id)];
  }
  return isObject(value) ? cutObject(value, cut) : value;
}

function cutObject(object: JsonObject, cut: CutOptions): JsonObject {
  const entries = Object.entries(object);
  const visibleEntries = entries
    .slice(0, computeItemLimit(cut))
    .map(([name, value]): [string, JsonValue] => [cutText(name, cut), cutValue(value, cut)]);
  const omittedCount = entries.length - visibleEntries.length;
  if (omittedCount > 0) visibleEntries.push([formatNote(omittedCount, "members", cut.id), null]);
  // Not an object literal: a key `__proto__` is data.
  return Object.fromEntries(visibleEntries);
}

function computeItemLimit({ length }: CutOptions): number {
  return Math.min(MAX_ITEMS, Math.max(4, length / 8));
}

function cutText(text: string, { length, id }: CutOptions): string {
  if (text.length <= length) return text;
  const head = alignToCharacter(text, Math.ceil((length * 2) / 3));
  const tail = alignToCharacter(text, text.length - Math.floor(length / 3));
  const note = formatNote(tail - head, "characters", id);
  return `${text.slice(0, head)}\n${note}\n${text.slice(tail)}`;
}
