import { SpanlineError } from "../../domain/errors.ts";
import { isObject, toJsonText } from "../../data/json.ts";

/** Refuses what a caller gave, before anything is sent. `path` names the field as the caller wrote it. */
export function throwInvalidOption(path: string, actual: unknown, expected: string): never {
  const formattedValue =
    actual === undefined ? "nothing" : toJsonText(actual).slice(0, MAX_QUOTED_CHARACTERS);
  const message = `${path} is ${formattedValue}, wanted ${expected}`;
  throw new SpanlineError("invalid_option", message, { details: { path } });
}

const MAX_QUOTED_CHARACTERS = 120;

export function checkString(
  path: string,
  value: unknown,
  pattern: RegExp,
  expected: string,
): string {
  return typeof value === "string" && pattern.test(value)
    ? value
    : throwInvalidOption(path, value, expected);
}

export function checkLength(path: string, value: string, maxLength: number): string {
  if (value.length <= maxLength && /^[\t\x20-\x7e]*$/.test(value)) return value;
  return throwInvalidOption(path, value, `at most ${maxLength} printable ASCII characters`);
}

export function checkCount(path: string, value: unknown): number {
  return typeof value === "number" && Number.isInteger(value) && value > 0
    ? value
    : throwInvalidOption(path, value, "a whole number above 0");
}

/** A union of the service: an object with exactly one of its members. Members that are newer than this list may come too. */
export function checkUnion(path: string, value: unknown): void {
  const members = isObject(value)
    ? Object.keys(value).filter((name) => value[name] !== undefined)
    : [];
  if (members.length === 1) return;
  throwInvalidOption(path, value, `exactly one member, not ${members.length}`);
}

export function checkList(path: string, value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : throwInvalidOption(path, value, "a list");
}
