import { RE2JS } from "re2js";
import { isObject, type JsonObject, type JsonValue } from "../domain/json.ts";
import type { ArgumentTest } from "../domain/policy.ts";
import { fitsAnySpelling, fitsExactly, spelled } from "./wildcard.ts";

/** Whether arguments are as a rule wants them. */
export type ArgumentCheck = (input: JsonObject) => boolean;

/** For rules that allow: the value is there, of the right type, and all of it fits; of a list every item. */
export function exactArgument(test: ArgumentTest): ArgumentCheck {
  const checks = exactChecks(test);
  const isFit = (value: JsonValue | undefined): boolean => {
    if (test.exists !== undefined && test.exists !== (value !== undefined)) return false;
    if (test.equals !== undefined && (value === undefined || !isSame(value, test.equals)))
      return false;
    if (checks.length === 0) return true;
    const items = itemsOf(value);
    return items.length > 0 && items.every((item) => checks.every((check) => check(item)));
  };
  return (input) => valuesAt(input, test.name).every(isFit);
}

/** For rules that deny or ask: any part of it fits, and so does what cannot be compared. */
export function wideArgument(test: ArgumentTest): ArgumentCheck {
  const checks = wideChecks(test);
  const { exists, equals } = test;
  return (input) => {
    const values = valuesAt(input, test.name);
    const given = values.filter((value) => value !== undefined);
    if (exists !== undefined && !values.some((value) => exists === (value !== undefined)))
      return false;
    if (equals !== undefined && !given.some((value) => isAlike(value, equals))) return false;
    const items = given.flatMap(itemsOf);
    return checks.every((check) => items.some((item) => check(item)));
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

type Values = readonly (JsonValue | undefined)[];

/**
 * All that stands at a name, at least one, undefined where there is nothing: a list between two levels stands for each of
 * its items. By own names alone: `__proto__` is a name like any other.
 */
function valuesAt(value: JsonValue | undefined, name: readonly string[]): Values {
  const [key, ...rest] = name;
  if (key === undefined) return [value];
  if (Array.isArray(value)) return valuesInList(value, key, rest);
  return isObject(value) && Object.hasOwn(value, key) ? valuesAt(value[key], rest) : [undefined];
}

/** A number is the place of an item; also a name, where items have it. */
function valuesInList(list: readonly JsonValue[], key: string, rest: readonly string[]): Values {
  const isPlace = /^\d+$/.test(key) && Object.hasOwn(list, key);
  const named = isPlace ? list.filter((one) => isObject(one) && Object.hasOwn(one, key)) : list;
  const values = [
    ...(isPlace ? valuesAt(list[Number(key)], rest) : []),
    ...named.flatMap((item) => valuesAt(item, [key, ...rest])),
  ];
  return values.length > 0 ? values : [undefined];
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
