import { isObject, type JsonObject, type JsonValue } from "../../data/json.ts";
import { createInvalidRequestError } from "../../http/routing/json-body.ts";

export function readRequiredString(body: JsonObject, name: string): string {
  const value = readOptionalString(body, name);
  if (value === undefined) throw createInvalidRequestError(`"${name}" is missing`);
  return value;
}

/** Null counts as absent. */
export function readOptionalString(body: JsonObject, name: string): string | undefined {
  const value = readOwnValue(body, name);
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw createInvalidRequestError(`"${name}" is not a string`);
  if (value.trim() === "") throw createInvalidRequestError(`"${name}" is empty`);
  return value;
}

export function readOptionalBoolean(body: JsonObject, name: string): boolean | undefined {
  const value = readOwnValue(body, name);
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "boolean")
    throw createInvalidRequestError(`"${name}" is not a boolean: expected true or false`);
  return value;
}

export function readOptionalObject(body: JsonObject, name: string): JsonObject | undefined {
  const value = readOwnValue(body, name);
  if (value === undefined || value === null) return undefined;
  if (!isJsonObject(value)) throw createInvalidRequestError(`"${name}" is not an object`);
  return value;
}

/** A whole number from `min` to 2^53 − 1. */
export function readOptionalInteger(
  body: JsonObject,
  name: string,
  min: number,
): number | undefined {
  const value = readOwnValue(body, name);
  if (value === undefined || value === null) return undefined;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= min) return value;
  throw createInvalidRequestError(`"${name}" is not a whole number >= ${min}`);
}

function isJsonObject(value: JsonValue): value is JsonObject {
  return isObject(value);
}

/** Reads own properties only, not inherited ones. */
function readOwnValue(body: JsonObject, name: string): JsonObject[string] | undefined {
  return Object.hasOwn(body, name) ? body[name] : undefined;
}
