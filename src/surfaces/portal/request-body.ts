import type { JsonObject } from "../../data/json.ts";
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

/** Reads own properties only, not inherited ones. */
function readOwnValue(body: JsonObject, name: string): JsonObject[string] | undefined {
  return Object.hasOwn(body, name) ? body[name] : undefined;
}
