import type { JsonBudget } from "../../../data/json-budget.ts";
import { isObject, type JsonObject, type JsonValue } from "../../../data/json.ts";
import { TRACE_MODES, type TraceMode } from "../../../domain/trace-mode.ts";
import { createFieldError } from "./request-error.ts";

/** An object of a request before validation. */
export type Fields = { readonly [key: string]: unknown };

/** Joins a path and a field name, for error messages. */
export function joinPath(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

export function readObject(value: unknown, path: string): Fields {
  if (!isObject(value)) throw createFieldError(path, "has to be an object", "invalid_type");
  return value;
}

/** Reads an array with at most `maxEntries` entries. */
export function readList(value: unknown, path: string, maxEntries: number): readonly unknown[] {
  if (!Array.isArray(value)) throw createFieldError(path, "has to be an array", "invalid_type");
  if (value.length > maxEntries)
    throw createFieldError(
      path,
      `has more than ${maxEntries} entries; send fewer`,
      "too_many_entries",
    );
  return value;
}

export function readString(value: unknown, path: string, maxLength: number): string {
  if (typeof value !== "string") throw createFieldError(path, "has to be a string", "invalid_type");
  if (value.length > maxLength)
    throw createFieldError(
      path,
      `has more than ${maxLength} characters; shorten it`,
      "string_too_long",
    );
  return value;
}

/** Reads an optional string. Null and absent are the same. */
export function readOptionalString(
  fields: Fields,
  name: string,
  path: string,
  maxLength: number,
): string | null {
  const value = fields[name];
  return isAbsent(value) ? null : readString(value, joinPath(path, name), maxLength);
}

export function readOptionalBoolean(fields: Fields, name: string, path = ""): boolean | null {
  const value = fields[name];
  if (isAbsent(value)) return null;
  if (typeof value === "boolean") return value;
  throw createFieldError(joinPath(path, name), "has to be true or false", "invalid_type");
}

export interface NumberRange {
  readonly min: number;
  readonly max: number;
  readonly isInteger?: true;
}

export function readOptionalNumber(
  fields: Fields,
  name: string,
  range: NumberRange,
): number | null {
  const value = fields[name];
  if (isAbsent(value)) return null;
  const { min, max, isInteger } = range;
  const isInRange = typeof value === "number" && value >= min && value <= max;
  if (isInRange && (isInteger !== true || Number.isInteger(value))) return value;
  const kind = isInteger === true ? "a whole number" : "a number";
  throw createFieldError(name, `has to be ${kind} from ${min} to ${max}`);
}

export function readOptionalChoice<Choice extends string>(
  fields: Fields,
  name: string,
  choices: readonly Choice[],
  path = "",
): Choice | null {
  const value = fields[name];
  return isAbsent(value) ? null : readChoice(value, joinPath(path, name), choices);
}

export function readChoice<Choice extends string>(
  value: unknown,
  path: string,
  choices: readonly Choice[],
): Choice {
  const choice = choices.find((candidate) => candidate === value);
  if (choice === undefined) throw createFieldError(path, `has to be one of ${choices.join(", ")}`);
  return choice;
}

/**
 * Reads any JSON value, at most 100 levels deep, so later readers cannot overflow the stack. A key `__proto__` is data.
 */
export function readJson(value: unknown, path: string, levels = MAX_DEPTH): JsonValue {
  if (levels === 0)
    throw createFieldError(path, `is nested deeper than ${MAX_DEPTH} levels`, "too_deep");
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (Array.isArray(value)) return value.map((entry) => readJson(entry, path, levels - 1));
  if (isObject(value)) return readJsonObject(value, path, levels);
  throw createFieldError(path, "has to be JSON", "invalid_type");
}

export function readJsonObject(value: unknown, path: string, levels = MAX_DEPTH): JsonObject {
  const entries = Object.entries(readObject(value, path));
  return Object.fromEntries(
    entries.map(([key, entry]) => [key, readJson(entry, path, levels - 1)]),
  );
}

/**
 * Throws `too_large` if the JSON texts inside the strings of a request exceed the limits of values and members for a
 * body.
 */
export function checkNestedJson(text: string, path: string, budget: JsonBudget): void {
  const limit = budget.spend(text);
  if (limit !== undefined)
    throw createFieldError(
      path,
      `exceeds the limit of ${limit} in the JSON strings of a request; send less`,
      "too_large",
    );
}

export function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

const MAX_DEPTH = 100;

/** Reads a trace mode from a header, a query parameter, a setting or a body field named `param`. */
export function readTraceMode(value: unknown, param: string): TraceMode {
  return readChoice(value, param, TRACE_MODES);
}

/** Reads metadata: at most 16 pairs, names of up to 64 characters, values of up to 512. */
export function readMetadata(metadata: unknown): { readonly [name: string]: string } {
  if (isAbsent(metadata)) return {};
  const entries = Object.entries(readObject(metadata, "metadata"));
  if (entries.length > 16)
    throw createFieldError("metadata", "has more than 16 pairs; send fewer", "too_many_entries");
  const read = entries.map(([name, value]) => {
    if (name.length > 64)
      throw createFieldError(`metadata.${name}`, "has a name of more than 64 characters");
    return [name, readString(value, `metadata.${name}`, 512)] as const;
  });
  return Object.fromEntries(read);
}
