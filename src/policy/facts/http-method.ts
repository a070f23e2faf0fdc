import type { JsonObject } from "../../data/json.ts";
import { foldSpelling } from "../matching/spelling.ts";
import { collectValues } from "./collect-values.ts";

/** The HTTP method that arguments name, in upper case; undefined where they name none. */
export function readHttpMethod(input: JsonObject): string | undefined {
  const { values, isComplete } = collectValues(input, /^method$/i);
  const candidates = values.flatMap(({ value, hasMatchingName }) =>
    hasMatchingName && value !== null ? [value] : [],
  );
  const texts = candidates.map((value) =>
    typeof value === "string" ? value.toUpperCase() : UNKNOWN_METHOD,
  );
  const [first, ...others] = new Set(texts);
  if (first === undefined) return isComplete ? undefined : UNKNOWN_METHOD;
  return isComplete && others.length === 0 && first.length <= MAX_METHOD_LENGTH
    ? first
    : UNKNOWN_METHOD;
}

/** No method, so that it fits no rule that allows and every rule that does not. */
const UNKNOWN_METHOD = "…";
const MAX_METHOD_LENGTH = 32;

/** For rules that deny or ask: what is no plain word may be any method to whoever reads it. */
export function mayBeMethod(method: string, methods: readonly string[]): boolean {
  const isPlainWord = foldSpelling(method).trim().toUpperCase();
  return !/^[A-Z0-9_-]+$/.test(isPlainWord) || methods.includes(isPlainWord);
}
