import { RE2JS } from "re2js";
import { isObject, type JsonObject, type JsonValue } from "../../data/json.ts";
import type { ArgumentTest } from "../../domain/policy/policy.ts";
import { foldSpelling, removeInvisibleCharacters } from "./spelling.ts";
import { mayMatchInAnySpelling, matchesExactly, createSpelledText } from "./wildcard.ts";

/** Whether the arguments of a call match a rule's test. */
export type ArgumentCheck = (input: JsonObject) => boolean;

/**
 * Exact matching (`allow` rules): the value must exist, have the right type and match completely; in a list, every
 * item.
 */
export function createExactArgumentCheck(test: ArgumentTest): ArgumentCheck {
  const checks = createExactChecks(test);
  const matchesValue = (value: JsonValue | undefined): boolean => {
    if (test.exists !== undefined && test.exists !== (value !== undefined)) return false;
    if (test.equals !== undefined && (value === undefined || !isDeepEqual(value, test.equals)))
      return false;
    if (checks.length === 0) return true;
    const items = listItems(value);
    return items.length > 0 && items.every((item) => checks.every((check) => check(item)));
  };
  return (input) => readValues(input, test.name).values.every(matchesValue);
}

/**
 * Conservative matching (`deny` and `ask` rules): any matching part is enough, and a value which cannot be compared
 * matches.
 */
export function createWideArgumentCheck(test: ArgumentTest): ArgumentCheck {
  const checks = createWideChecks(test);
  const { exists, equals } = test;
  return (input) => {
    const { values, isUnclear } = readValues(input, test.name);
    if (isUnclear) return true;
    const presentValues = values.filter((value) => value !== undefined);
    if (exists !== undefined && !values.some((value) => exists === (value !== undefined)))
      return false;
    if (equals !== undefined && !presentValues.some((value) => mayEqual(value, equals)))
      return false;
    const items = presentValues.flatMap(listItems);
    return checks.every((check) => items.some((item) => check(item)));
  };
}

type ValueCheck = (value: JsonValue) => boolean;

function createExactChecks({
  in: choices,
  matches,
  glob,
  atMost,
  atLeast,
}: ArgumentTest): ValueCheck[] {
  const checks: ValueCheck[] = [];
  if (choices !== undefined)
    checks.push((value) => choices.some((choice) => isDeepEqual(value, choice)));
  if (atMost !== undefined) checks.push((value) => typeof value === "number" && value <= atMost);
  if (atLeast !== undefined) checks.push((value) => typeof value === "number" && value >= atLeast);
  if (glob !== undefined) {
    const pattern = createSpelledText(glob);
    checks.push(
      (value) => isReadableText(value) && matchesExactly(pattern, createSpelledText(value)),
    );
  }
  if (matches !== undefined) {
    const expression = RE2JS.compile(matches);
    checks.push((value) => isReadableText(value) && expression.matches(value));
  }
  return checks;
}

function createWideChecks({
  in: choices,
  matches,
  glob,
  atMost,
  atLeast,
}: ArgumentTest): ValueCheck[] {
  const checks: ValueCheck[] = [];
  if (choices !== undefined) checks.push((value) => mayEqualAny(value, choices));
  if (atMost !== undefined) checks.push((value) => typeof value !== "number" || value <= atMost);
  if (atLeast !== undefined) checks.push((value) => typeof value !== "number" || value >= atLeast);
  if (glob !== undefined) {
    const pattern = createSpelledText(glob);
    checks.push(
      (value) => !isReadableText(value) || mayMatchInAnySpelling(pattern, createSpelledText(value)),
    );
  }
  if (matches !== undefined) {
    const expression = RE2JS.compile(matches);
    checks.push(
      (value) =>
        !isReadableText(value) ||
        expression.matcher(value).find() ||
        expression.matcher(removeInvisibleCharacters(value)).find(),
    );
  }
  return checks;
}

interface ArgumentValues {
  /** Never empty. Contains undefined if there is no value. */
  readonly values: readonly (JsonValue | undefined)[];
  /** A scalar is in the middle of the name's path. The tool may parse the rest of the path from a string there. */
  readonly isUnclear: boolean;
}

const NO_VALUES: ArgumentValues = { values: [undefined], isUnclear: false };

/**
 * All values at a dotted name. A list in the middle stands for each of its items. Only own properties count, so
 * `__proto__` is an ordinary name.
 */
function readValues(value: JsonValue | undefined, name: readonly string[]): ArgumentValues {
  const [key, ...rest] = name;
  if (key === undefined) return { values: [value], isUnclear: false };
  if (value === undefined || value === null) return NO_VALUES;
  if (Array.isArray(value)) return readListValues(value, key, rest);
  if (!isObject(value)) return { ...NO_VALUES, isUnclear: true };
  return Object.hasOwn(value, key) ? readValues(value[key], rest) : NO_VALUES;
}

/** A number in a name is a list index, and also a key of items which have such a key. */
function readListValues(
  list: readonly JsonValue[],
  key: string,
  rest: readonly string[],
): ArgumentValues {
  const isNumber = /^\d+$/.test(key);
  const isIndex = isNumber && Object.hasOwn(list, key);
  const named = list.filter((element) => {
    if (isIndex) return isObject(element) && Object.hasOwn(element, key);
    return !isNumber || isObject(element) || Array.isArray(element);
  });
  const itemValues = [
    ...(isIndex ? [readValues(list[Number(key)], rest)] : []),
    ...named.map((item) => readValues(item, [key, ...rest])),
  ];
  if (itemValues.length === 0) return NO_VALUES;
  return {
    values: itemValues.flatMap(({ values }) => values),
    isUnclear: itemValues.some(({ isUnclear }) => isUnclear),
  };
}

/** Null counts as absent. */
function listItems(value: JsonValue | undefined): readonly JsonValue[] {
  const items = Array.isArray(value) ? value : [value ?? null];
  return items.filter((item) => item !== null);
}

/** Characters. A regular expression reads about 100 characters per microsecond. */
const MAX_TEXT_LENGTH = 1_000_000;

function isReadableText(value: JsonValue): value is string {
  return typeof value === "string" && value.length <= MAX_TEXT_LENGTH;
}

/**
 * Conservative equality: any spelling, and across types, since the tool may read `"true"` as `true`. In a list, any
 * item may match.
 */
function mayEqual(value: JsonValue, expected: JsonValue): boolean {
  return mayEqualAny(value, [expected]);
}

/**
 * A value of a type which none of the choices has counts as a match. If a choice has the same type, the value must
 * equal a choice in some spelling.
 */
function mayEqualAny(value: JsonValue, choices: readonly JsonValue[]): boolean {
  if (choices.some((choice) => equalsInAnySpelling(value, choice) || equalsAsText(value, choice)))
    return true;
  if (Array.isArray(value) && value.some((item) => mayEqualAny(item, choices))) return true;
  return choices.every((choice) => hasOtherType(value, choice));
}

/** Deep equality in which strings are compared without regard to spelling. */
function equalsInAnySpelling(value: JsonValue, expected: JsonValue): boolean {
  if (typeof value === "string" && typeof expected === "string")
    return value === expected || normalizeText(value) === normalizeText(expected);
  if (Array.isArray(value) && Array.isArray(expected))
    return (
      value.length === expected.length &&
      value.every((item, at) => mayEqual(item, expected[at] ?? null))
    );
  if (!isObject(value) || !isObject(expected)) return value === expected;
  const names = Object.keys(value);
  return (
    names.length === Object.keys(expected).length &&
    names.every(
      (name) =>
        Object.hasOwn(expected, name) && mayEqual(value[name] ?? null, expected[name] ?? null),
    )
  );
}

function equalsAsText(value: JsonValue, expected: JsonValue): boolean {
  if (typeof value === "object" || typeof expected === "object") return false;
  return (
    typeof value !== typeof expected &&
    normalizeText(String(value)) === normalizeText(String(expected))
  );
}

function hasOtherType(value: JsonValue, expected: JsonValue): boolean {
  if (value === null || expected === null) return false;
  return typeof value !== typeof expected || Array.isArray(value) !== Array.isArray(expected);
}

function normalizeText(text: string): string {
  return foldSpelling(text).trim();
}

function isDeepEqual(first: JsonValue, second: JsonValue): boolean {
  if (Array.isArray(first) && Array.isArray(second))
    return (
      first.length === second.length &&
      first.every((item, at) => isDeepEqual(item, second[at] ?? null))
    );
  if (!isObject(first) || !isObject(second)) return first === second;
  const names = Object.keys(first);
  return (
    names.length === Object.keys(second).length &&
    names.every(
      (name) =>
        Object.hasOwn(second, name) && isDeepEqual(first[name] ?? null, second[name] ?? null),
    )
  );
}
