import { SpanlineError } from "../domain/errors.ts";
import { isObject } from "../domain/json.ts";
import { nearNames } from "../domain/near-names.ts";
import { shown } from "../domain/shown.ts";

/** What a caller without types may have given, by name. */
export interface Given {
  readonly [name: string]: unknown;
}

export function wrongOption(path: string, message: string): SpanlineError {
  return new SpanlineError("invalid_option", message, { details: { path } });
}

/**
 * Options by name, and none that nobody knows: one that is misspelt would be as good as not given. The path of the
 * outermost is empty.
 */
export function optionsAt(value: unknown, path: string, names: readonly string[]): Given {
  if (!isObject(value)) {
    throw wrongOption(path, `${path || "What was given"} is ${shown(value)}, wanted an object`);
  }
  const unknown = Object.entries(value).filter(
    ([name, given]) => !names.includes(name) && given !== undefined,
  );
  const [first] = unknown;
  if (first !== undefined) {
    const problems = unknown.slice(0, MOST_SAID).map(([name]) => unknownOption(name, path, names));
    throw wrongOption(placeOf(first[0], path), problems.join(". "));
  }
  return value;
}

/** Whoever misspelt several should not have to start as often. */
const MOST_SAID = 5;

function unknownOption(name: string, path: string, names: readonly string[]): string {
  const [near] = nearNames(name, names);
  const instead =
    near === undefined ? `; there are ${names.join(", ")}` : `; did you mean ${near}?`;
  return `There is no option ${placeOf(name, path)}${instead}`;
}

function placeOf(name: string, path: string): string {
  return path === "" ? name : `${path}.${name}`;
}

export function checkOneOf(value: unknown, path: string, choices: readonly string[]): void {
  if (value === undefined || choices.some((choice) => choice === value)) return;
  throw wrongOption(path, `${path} is ${shown(value)}, wanted ${choices.join(", ")}`);
}

/** Above 0 and not endless: the log keeps it as JSON, which has no word for that. */
export function checkAmount(value: unknown, path: string): void {
  if (value === undefined || (Number.isFinite(value) && Number(value) > 0)) return;
  throw wrongOption(path, `${path} is ${shown(value)}, wanted a number above 0`);
}

export function checkCount(value: unknown, path: string, least = 1): void {
  if (value === undefined || (Number.isSafeInteger(value) && Number(value) >= least)) return;
  throw wrongOption(path, `${path} is ${shown(value)}, wanted a whole number from ${least} on`);
}

export type Kind = "function" | "string" | "boolean";

export function checkKind(value: unknown, path: string, kind: Kind): void {
  if (value === undefined || typeof value === kind) return;
  throw wrongOption(path, `${path} is ${shown(value)}, wanted a ${kind}`);
}
