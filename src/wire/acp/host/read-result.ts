import { isObject, type JsonValue } from "../../../data/json.ts";

/** What the door for a host's words gives: a value, or what is wrong with them. */
export type ReadResult<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problem: string };

export function acceptValue<Value>(value: Value): ReadResult<Value> {
  return { ok: true, value };
}

export function rejectValue(problem: string): ReadResult<never> {
  return { ok: false, problem };
}

/** Some hosts wrap whatever they answer once more. `key` is what is there where they did not. */
export function unwrap(value: JsonValue, key: string): JsonValue {
  if (!isObject(value) || value[key] !== undefined) return value;
  return value["result"] ?? value;
}
