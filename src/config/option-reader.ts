import { SpanlineError } from "../domain/errors.ts";
import { isObject } from "../data/json.ts";
import { suggestNames } from "../text/suggest-name.ts";
import { formatValue } from "../text/format-value.ts";

/** What a caller without types may have given, by name. */
export interface UncheckedOptions {
  readonly [name: string]: unknown;
}

export function invalidOptionError(path: string, message: string): SpanlineError {
  return new SpanlineError("invalid_option", message, { details: { path } });
}

/**
 * Options by name, and none that nobody knows: one that is misspelt would be as good as not given. The path of the
 * outermost is empty.
 */
export function readOptions(
  value: unknown,
  path: string,
  names: readonly string[],
): UncheckedOptions {
  if (!isObject(value)) {
    throw invalidOptionError(
      path,
      `${path || "What was given"} is ${formatValue(value)}, wanted an object`,
    );
  }
  const unknown = Object.entries(value).filter(
    ([name, optionValue]) => !names.includes(name) && optionValue !== undefined,
  );
  const [first] = unknown;
  if (first !== undefined) {
    const problems = unknown
      .slice(0, MAX_REPORTED)
      .map(([name]) => formatUnknownOption(name, path, names));
    throw invalidOptionError(formatErrorPath(first[0], path), problems.join(". "));
  }
  return value;
}

/** Whoever misspelt several should not have to start as often. */
const MAX_REPORTED = 5;

function formatUnknownOption(name: string, path: string, names: readonly string[]): string {
  const [near] = suggestNames(name, names);
  const instead =
    near === undefined ? `; there are ${names.join(", ")}` : `; did you mean ${near}?`;
  return `There is no option ${formatErrorPath(name, path)}${instead}`;
}

function formatErrorPath(name: string, path: string): string {
  return path === "" ? name : `${path}.${name}`;
}

export function checkOneOf(value: unknown, path: string, choices: readonly string[]): void {
  if (value === undefined || choices.some((choice) => choice === value)) return;
  throw invalidOptionError(path, `${path} is ${formatValue(value)}, wanted ${choices.join(", ")}`);
}

/** Above 0 and not endless: the log keeps it as JSON, which has no word for that. */
export function checkPositiveNumber(value: unknown, path: string): void {
  if (value === undefined || (Number.isFinite(value) && Number(value) > 0)) return;
  throw invalidOptionError(path, `${path} is ${formatValue(value)}, wanted a number above 0`);
}

export function checkWholeNumber(value: unknown, path: string, min = 1): void {
  if (value === undefined || (Number.isSafeInteger(value) && Number(value) >= min)) return;
  throw invalidOptionError(
    path,
    `${path} is ${formatValue(value)}, wanted a whole number from ${min} on`,
  );
}

export type OptionType = "function" | "string" | "boolean";

export function checkType(value: unknown, path: string, type: OptionType): void {
  if (value === undefined || typeof value === type) return;
  throw invalidOptionError(path, `${path} is ${formatValue(value)}, wanted a ${type}`);
}
