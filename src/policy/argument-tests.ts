import { RE2JS } from "re2js";
import { isObject, type JsonObject, type JsonValue } from "../domain/json.ts";
import type { ArgumentTest } from "../domain/policy.ts";
import { folded, withoutUnseen } from "./spelling.ts";
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
  return (input) => valuesAt(input, test.name).values.every(isFit);
}

/** For rules that deny or ask: any part of it fits, and so does what cannot be compared. */
export function wideArgument(test: ArgumentTest): ArgumentCheck {
  const checks = wideChecks(test);
  const { exists, equals } = test;
  return (input) => {
    const { values, isUnclear } = valuesAt(input, test.name);
    if (isUnclear) return true;
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
  if (choices !== undefined) checks.push((value) => isOneOf(value, choices));
  if (atMost !== undefined) checks.push((value) => typeof value !== "number" || value <= atMost);
  if (atLeast !== undefined) checks.push((value) => typeof value !== "number" || value >= atLeast);
  if (glob !== undefined) {
    const pattern = spelled(glob);
    checks.push((value) => !isReadable(value) || fitsAnySpelling(pattern, spelled(value)));
  }
  if (matches !== undefined) {
    const expression = RE2JS.compile(matches);
    checks.push(
      (value) =>
        !isReadable(value) ||
        expression.matcher(value).find() ||
        expression.matcher(withoutUnseen(value)).find(),
    );
  }
  return checks;
}

interface Values {
  /** At least one, undefined where there is nothing. */
  readonly values: readonly (JsonValue | undefined)[];
  /** Something of another type stands on the way: whoever reads a text there may find the rest in it. */
  readonly isUnclear: boolean;
}

const NONE: Values = { values: [undefined], isUnclear: false };

/**
 * All that stands at a name: a list between two levels stands for each of its items. By own names alone: `__proto__` is a
 * name like any other.
 */
function valuesAt(value: JsonValue | undefined, name: readonly string[]): Values {
  const [key, ...rest] = name;
  if (key === undefined) return { values: [value], isUnclear: false };
  if (value === undefined || value === null) return NONE;
  if (Array.isArray(value)) return valuesInList(value, key, rest);
  if (!isObject(value)) return { ...NONE, isUnclear: true };
  return Object.hasOwn(value, key) ? valuesAt(value[key], rest) : NONE;
}

/** A number is the place of an item; also a name, where items have it. */
function valuesInList(list: readonly JsonValue[], key: string, rest: readonly string[]): Values {
  const isNumber = /^\d+$/.test(key);
  const isPlace = isNumber && Object.hasOwn(list, key);
  const named = list.filter((one) => {
    if (isPlace) return isObject(one) && Object.hasOwn(one, key);
    return !isNumber || isObject(one) || Array.isArray(one);
  });
  const found = [
    ...(isPlace ? [valuesAt(list[Number(key)], rest)] : []),
    ...named.map((item) => valuesAt(item, [key, ...rest])),
  ];
  if (found.length === 0) return NONE;
  return {
    values: found.flatMap(({ values }) => values),
    isUnclear: found.some(({ isUnclear }) => isUnclear),
  };
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

/** The same in any spelling, or of another type: whoever reads it may take `"true"` for `true`. Of a list any item counts. */
function isAlike(value: JsonValue, wanted: JsonValue): boolean {
  return isOneOf(value, [wanted]);
}

/** Where one of them is of its type, what is none of them has to be spelled like one. */
function isOneOf(value: JsonValue, choices: readonly JsonValue[]): boolean {
  if (choices.some((one) => isSpelledAs(value, one) || isSpelledLike(value, one))) return true;
  if (Array.isArray(value) && value.some((item) => isOneOf(item, choices))) return true;
  return choices.every((one) => isOfOtherType(value, one));
}

/** The same, whatever the spelling of its texts. */
function isSpelledAs(value: JsonValue, wanted: JsonValue): boolean {
  if (typeof value === "string" && typeof wanted === "string")
    return value === wanted || plainText(value) === plainText(wanted);
  if (Array.isArray(value) && Array.isArray(wanted))
    return (
      value.length === wanted.length && value.every((item, at) => isAlike(item, wanted[at] ?? null))
    );
  if (!isObject(value) || !isObject(wanted)) return value === wanted;
  const names = Object.keys(value);
  return (
    names.length === Object.keys(wanted).length &&
    names.every(
      (name) => Object.hasOwn(wanted, name) && isAlike(value[name] ?? null, wanted[name] ?? null),
    )
  );
}

function isSpelledLike(value: JsonValue, wanted: JsonValue): boolean {
  if (typeof value === "object" || typeof wanted === "object") return false;
  return typeof value !== typeof wanted && plainText(String(value)) === plainText(String(wanted));
}

function isOfOtherType(value: JsonValue, wanted: JsonValue): boolean {
  if (value === null || wanted === null) return false;
  return typeof value !== typeof wanted || Array.isArray(value) !== Array.isArray(wanted);
}

function plainText(text: string): string {
  return folded(text).trim();
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
