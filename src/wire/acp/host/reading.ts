import { isObject, type JsonValue } from "../../../domain/json.ts";

/** What the door for a host's words gives: a value, or what is wrong with them. */
export type Reading<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problem: string };

export function read<Value>(value: Value): Reading<Value> {
  return { ok: true, value };
}

export function unreadable(problem: string): Reading<never> {
  return { ok: false, problem };
}

/** Some hosts wrap whatever they answer once more. `key` is what is there where they did not. */
export function unwrapped(given: JsonValue, key: string): JsonValue {
  if (!isObject(given) || given[key] !== undefined) return given;
  return given["result"] ?? given;
}
