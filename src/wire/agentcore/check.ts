import { SpanlineError } from "../../domain/errors.ts";
import { isObject, jsonText } from "../../domain/json.ts";

/** Refuses what a caller gave, before anything is sent. `path` names the field as the caller wrote it. */
export function refuse(path: string, found: unknown, wanted: string): never {
  const shown = found === undefined ? "nothing" : jsonText(found).slice(0, QUOTED_CHARACTERS);
  const message = `${path} is ${shown}, wanted ${wanted}`;
  throw new SpanlineError("invalid_option", message, { details: { path } });
}

const QUOTED_CHARACTERS = 120;

export function checkText(path: string, value: unknown, pattern: RegExp, wanted: string): string {
  return typeof value === "string" && pattern.test(value) ? value : refuse(path, value, wanted);
}

export function checkLength(path: string, value: string, most: number): string {
  if (value.length <= most && /^[\t\x20-\x7e]*$/.test(value)) return value;
  return refuse(path, value, `at most ${most} printable ASCII characters`);
}

export function checkCount(path: string, value: unknown): number {
  return typeof value === "number" && Number.isInteger(value) && value > 0
    ? value
    : refuse(path, value, "a whole number above 0");
}

/** A union of the service: an object with exactly one of its members. Members that are newer than this list may come too. */
export function checkUnion(path: string, value: unknown): void {
  const members = isObject(value)
    ? Object.keys(value).filter((name) => value[name] !== undefined)
    : [];
  if (members.length === 1) return;
  refuse(path, value, `exactly one member, not ${members.length}`);
}

export function checkList(path: string, value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : refuse(path, value, "a list");
}
