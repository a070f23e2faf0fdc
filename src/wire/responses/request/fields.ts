import { isObject, type JsonObject, type JsonValue } from "../../../domain/json.ts";
import { wrongField } from "./refusal.ts";

/** An object of a request, not read yet. */
export type Fields = { readonly [key: string]: unknown };

/** Where a field stands, for whoever has to find it. */
export function at(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

export function objectAt(value: unknown, path: string): Fields {
  if (!isObject(value)) throw wrongField(path, "has to be an object", "invalid_type");
  return value;
}

/** An array that is not too long. */
export function listAt(value: unknown, path: string, most: number): readonly unknown[] {
  if (!Array.isArray(value)) throw wrongField(path, "has to be an array", "invalid_type");
  if (value.length > most)
    throw wrongField(path, `has more than ${most} entries; send fewer`, "too_many_entries");
  return value;
}

export function textAt(value: unknown, path: string, longest: number): string {
  if (typeof value !== "string") throw wrongField(path, "has to be a string", "invalid_type");
  if (value.length > longest)
    throw wrongField(path, `has more than ${longest} characters; shorten it`, "string_too_long");
  return value;
}

/** A text that may be missing; `null` says the same as nothing. */
export function optionalText(
  fields: Fields,
  name: string,
  path: string,
  longest: number,
): string | null {
  const value = fields[name];
  return isAbsent(value) ? null : textAt(value, at(path, name), longest);
}

export function optionalFlag(fields: Fields, name: string, path = ""): boolean | null {
  const value = fields[name];
  if (isAbsent(value)) return null;
  if (typeof value === "boolean") return value;
  throw wrongField(at(path, name), "has to be true or false", "invalid_type");
}

export interface Range {
  readonly least: number;
  readonly most: number;
  readonly whole?: true;
}

export function optionalNumber(fields: Fields, name: string, range: Range): number | null {
  const value = fields[name];
  if (isAbsent(value)) return null;
  const { least, most, whole } = range;
  const isRight = typeof value === "number" && value >= least && value <= most;
  if (isRight && (whole !== true || Number.isInteger(value))) return value;
  const kind = whole === true ? "a whole number" : "a number";
  throw wrongField(name, `has to be ${kind} from ${least} to ${most}`);
}

export function optionalChoice<Choice extends string>(
  fields: Fields,
  name: string,
  choices: readonly Choice[],
  path = "",
): Choice | null {
  const value = fields[name];
  return isAbsent(value) ? null : choiceAt(value, at(path, name), choices);
}

export function choiceAt<Choice extends string>(
  value: unknown,
  path: string,
  choices: readonly Choice[],
): Choice {
  const choice = choices.find((known) => known === value);
  if (choice === undefined) throw wrongField(path, `has to be one of ${choices.join(", ")}`);
  return choice;
}

/** Anything that JSON can say, not nested so deep that a later reader would overflow. A key `__proto__` is data. */
export function jsonAt(value: unknown, path: string, levels = DEEPEST): JsonValue {
  if (levels === 0) throw wrongField(path, `is nested deeper than ${DEEPEST} levels`, "too_deep");
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (Array.isArray(value)) return value.map((entry) => jsonAt(entry, path, levels - 1));
  if (isObject(value)) return jsonObjectAt(value, path, levels);
  throw wrongField(path, "has to be JSON", "invalid_type");
}

export function jsonObjectAt(value: unknown, path: string, levels = DEEPEST): JsonObject {
  const entries = Object.entries(objectAt(value, path));
  return Object.fromEntries(entries.map(([key, entry]) => [key, jsonAt(entry, path, levels - 1)]));
}

export function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

const DEEPEST = 100;
