import type { JsonObject } from "../../data/json.ts";
import { createInvalidRequestError } from "../../http/routing/json-body.ts";

export function requiredText(body: JsonObject, name: string): string {
  const value = optionalText(body, name);
  if (value === undefined) throw createInvalidRequestError(`"${name}" is missing`);
  return value;
}

/** Null counts as absent. */
export function optionalText(body: JsonObject, name: string): string | undefined {
  const value = ownValue(body, name);
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw createInvalidRequestError(`"${name}" is not a string`);
  if (value.trim() === "") throw createInvalidRequestError(`"${name}" is empty`);
  return value;
}

export function optionalFlag(body: JsonObject, name: string): boolean | undefined {
  const value = ownValue(body, name);
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "boolean")
    throw createInvalidRequestError(`"${name}" is not a boolean: expected true or false`);
  return value;
}

/** Reads own properties only, not inherited ones. */
function ownValue(body: JsonObject, name: string): JsonObject[string] | undefined {
  return Object.hasOwn(body, name) ? body[name] : undefined;
}
