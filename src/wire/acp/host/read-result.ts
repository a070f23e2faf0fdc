import { isObject, type JsonValue } from "../../../data/json.ts";

/** The result of reading a host's message: a value, or the problem. */
export type ReadResult<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problem: string };

export function acceptValue<Value>(value: Value): ReadResult<Value> {
  return { ok: true, value };
}

export function rejectValue(problem: string): ReadResult<never> {
  return { ok: false, problem };
}

/** Removes an extra `result` wrapper, which some hosts add. `key` is a field of the unwrapped value. */
export function unwrap(value: JsonValue, key: string): JsonValue {
  if (!isObject(value) || value[key] !== undefined) return value;
  return value["result"] ?? value;
}
