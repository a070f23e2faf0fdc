import { isObject, type JsonValue } from "../../domain/json.ts";

/** The same value, with long texts cut: for a screen, where the whole stands beside it. */
export function shortened(value: JsonValue): JsonValue {
  if (typeof value === "string") {
    return value.length <= MOST_CHARACTERS ? value : `${value.slice(0, MOST_CHARACTERS)}…`;
  }
  if (Array.isArray(value)) return value.map((one: JsonValue) => shortened(one));
  if (!isObject(value)) return value;
  // Not an object literal: a key `__proto__` is data.
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shortened(one)]));
}

const MOST_CHARACTERS = 2000;
