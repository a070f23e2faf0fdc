import { RE2JS } from "re2js";
import { isObject, type JsonObject, type JsonValue } from "../domain/json.ts";
import type { ArgumentTest } from "../domain/policy.ts";
import { fitsAnySpelling, fitsExactly, spelled } from "./wildcard.ts";

/** Whether arguments are as a rule wants them. */
export type ArgumentCheck = (input: JsonObject) => boolean;

/** For rules that allow: the value is there, of the right type, and all of it fits; of a list every item. */
export function exactArgument(test: ArgumentTest): ArgumentCheck {
  const checks = exactChecks(test);
  return (input) => {
    const value = valueAt(input, test.name);
    if (test.exists !== undefined && test.exists !== (value !== undefined)) return false;
    if (test.equals !== undefined && (value === undefined || !isSame(value, test.equals)))
      return false;
    if (checks.length === 0) return true;
    const items = itemsOf(value);
    return items.length > 0 && items.every((item) => checks.every((check) => check(item)));
  };
}

/** For rules that deny or ask: any part of it fits, and so does what cannot be compared. */
export function wideArgument(test: ArgumentTest): ArgumentCheck {
  const checks = wideChecks(test);
  return (input) => {
    const value = valueAt(input, test.name);
    if (test.exists !== undefined && test.exists !== (value !== undefined)) return false;
    const { equals } = test;
    if (equals !== undefined && (value === undefined || !isAlike(value, equals))) return false;
    return checks.every((check) => itemsOf(value).some((item) => check(item)));
  };
}

type ValueCheck = (value: JsonValue) => boolean;

function exactChecks({ in: choices, matches, glob, atMost, atLeast }: ArgumentTest): ValueCheck[] {
  const checks: ValueCheck[] = [];
  if (choices !== undefined) checks.push((value) => choices.some((one) => isSame(value, one)));
  if (atMost !== undefined) checks.push((value) => typeof value === "number" && value <= atMost);
  if (atLeast !== undefined) checks.push((value) => typeof value === "number" && value >= atLeast);
  if (glob !== undefined) {
    const pattern = spelled(glob);
    checks.push((value) => isReadable(value) && fitsExactly(pattern, spelled(value)));
  }
  if (matches !== undefined) {
    const expression = RE2JS.compile(matches);
    checks.push((value) => isReadable(value) && expression.matches(value));
  }
  return checks;
}

function wideChecks({ in: choices, matches, glob, atMost, atLeast }: ArgumentTest): ValueCheck[] {
  const checks: ValueCheck[] = [];
  if (choices !== undefined) checks.push((value) => choices.some((one) => isAlike(value, one)));
  if (atMost !== undefined) checks.push((value) => typeof value !== "number" || value <= atMost);
  if (atLeast !== undefined) checks.push((value) => typeof value !== "number" || value >= atLeast);
  if (glob !== undefined) {
    const pattern = spelled(glob);
    checks.push((value) => !isReadable(value) || fitsAnySpelling(pattern, spelled(value)));
  }
  if (matches !== undefined) {
    const expression = RE2JS.compile(matches);
    checks.push((value) => !isReadable(value) || expression.matcher(value).find());
  }
  return checks;
}

/** By own names alone: `__proto__` is a name like any other. */
function valueAt(input: JsonObject, name: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = input;
  for (const key of name) {
    if (!(isObject(value) || Array.isArray(value)) || !Object.hasOwn(value, key)) return undefined;
    value = Array.isArray(value) ? value[Number(key)] : value[key];
  }
  return value;
}

/** Null is as good as not given. */
function itemsOf(value: JsonValue | undefined): readonly JsonValue[] {
  const items = Array.isArray(value) ? value : [value ?? null];
  return items.filter((item) => item !== null);
}

/** A regular expression reads about 100 characters in a microsecond. */
const LONGEST_TEXT = 1_000_000;

function isReadable(value: JsonValue): value is string {
  return typeof value === "string" && value.length <= LONGEST_TEXT;
}

/** The same, or of another type: whoever reads it may take `"true"` for `true`. Of a list any item counts. */
function isAlike(value: JsonValue, wanted: JsonValue): boolean {
  if (value === null || wanted === null) return value === wanted;
  if (typeof value === typeof wanted && Array.isArray(value) === Array.isArray(wanted)) {
    return isSame(value, wanted);
  }
  return Array.isArray(value) ? value.some((item) => isAlike(item, wanted)) : true;
}

function isSame(one: JsonValue, other: JsonValue): boolean {
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((item, at) => isSame(item, other[at] ?? null));
  if (!isObject(one) || !isObject(other)) return one === other;
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every(
      (name) => Object.hasOwn(other, name) && isSame(one[name] ?? null, other[name] ?? null),
    )
  );
}
