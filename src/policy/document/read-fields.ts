import { SpanlineError } from "../../domain/errors.ts";
import { isObject } from "../../data/json.ts";
import { suggestNames } from "../../text/suggest-name.ts";
import { formatValue } from "../../text/format-value.ts";

/** The fields of one part of a document by their names, those that it has itself. */
export type Fields = ReadonlyMap<string, unknown>;

export function createPolicyError(path: string, message: string): SpanlineError {
  return new SpanlineError("invalid_option", `${path} ${message}`, { details: { path } });
}

/** Fields that are known. One that is misspelt would be as good as not given, and a policy would not do what it says. */
export function readFields(value: unknown, path: string, names: readonly string[]): Fields {
  if (!isObject(value)) throw createPolicyError(path, `is ${formatValue(value)}, wanted an object`);
  const fields = new Map(
    Object.entries(value).filter(([, fieldValue]) => fieldValue !== undefined),
  );
  for (const name of fields.keys()) {
    if (!names.includes(name)) throw createUnknownFieldError(path, name, names);
  }
  return fields;
}

function createUnknownFieldError(
  path: string,
  name: string,
  names: readonly string[],
): SpanlineError {
  const [near] = suggestNames(name.slice(0, 100), names);
  const instead = near === undefined ? `there are ${names.join(", ")}` : `did you mean ${near}?`;
  return createPolicyError(`${path}.${name.slice(0, 100)}`, `is not known; ${instead}`);
}

/** The one of several names for the same field that was given. */
export function findField(
  fields: Fields,
  path: string,
  names: readonly string[],
): string | undefined {
  const [first, second] = names.filter((name) => fields.has(name));
  if (second === undefined) return first;
  throw createPolicyError(`${path}.${second}`, `says again what ${first} says; give one of them`);
}

export function readString(value: unknown, path: string, maxLength: number): string {
  if (typeof value !== "string")
    throw createPolicyError(path, `is ${formatValue(value)}, wanted text`);
  if (value.trim() === "") throw createPolicyError(path, "is empty");
  if (value.length > maxLength)
    throw createPolicyError(path, `is longer than ${maxLength} characters`);
  return value;
}

export function readBoolean(value: unknown, path: string): boolean {
  if (value === undefined) return false;
  if (typeof value !== "boolean")
    throw createPolicyError(path, `is ${formatValue(value)}, wanted true or false`);
  return value;
}

export function readInteger(value: unknown, path: string, min: number, max: number): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= min && value <= max)
    return value;
  throw createPolicyError(
    path,
    `is ${formatValue(value)}, wanted a whole number from ${min} to ${max}`,
  );
}

export function readChoice<Choice extends string>(
  value: unknown,
  path: string,
  choices: readonly Choice[],
): Choice {
  const match = choices.find((choice) => choice === value);
  if (match !== undefined) return match;
  const [near] = typeof value === "string" ? suggestNames(value.slice(0, 100), choices) : [];
  const instead = near === undefined ? "" : `; did you mean ${near}?`;
  throw createPolicyError(path, `is ${formatValue(value)}, wanted ${choices.join(", ")}${instead}`);
}

export function readList(value: unknown, path: string, maxItems: number): readonly unknown[] {
  if (!Array.isArray(value))
    throw createPolicyError(path, `is ${formatValue(value)}, wanted a list`);
  if (value.length > maxItems) throw createPolicyError(path, `has more than ${maxItems} entries`);
  return value;
}
