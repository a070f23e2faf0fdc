import type { JsonObject } from "../../data/json.ts";
import { createInvalidRequestError } from "../../http/routing/json-body.ts";

export function requiredText(body: JsonObject, name: string): string {
  const value = optionalText(body, name);
  if (value === undefined) throw createInvalidRequestError(`"${name}" is missing`);
  return value;
}

/** Null is as good as absent. */
export function optionalText(body: JsonObject, name: string): string | undefined {
  const value = ownValue(body, name);
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw createInvalidRequestError(`"${name}" is no text`);
  if (value.trim() === "") throw createInvalidRequestError(`"${name}" is empty`);
  return value;
}

export function optionalFlag(body: JsonObject, name: string): boolean | undefined {
  const value = ownValue(body, name);
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "boolean")
    throw createInvalidRequestError(`"${name}" is neither true nor false`);
  return value;
}

/** Not what every object inherits. */
function ownValue(body: JsonObject, name: string): JsonObject[string] | undefined {
  return Object.hasOwn(body, name) ? body[name] : undefined;
}
