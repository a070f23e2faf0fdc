import type { JsonObject } from "../../data/json.ts";
import { foldSpelling } from "../matching/spelling.ts";
import { collectValues } from "./collect-values.ts";

/** The HTTP method named by the arguments, in uppercase. Undefined if absent, `…` if ambiguous or not a string. */
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

/** Not a valid method: never matches an `allow` rule, always matches a `deny` or `ask` rule. */
const UNKNOWN_METHOD = "…";
const MAX_METHOD_LENGTH = 32;

/** Conservative matching: a method which is not a plain word may be read as any method by the tool. */
export function mayBeMethod(method: string, methods: readonly string[]): boolean {
  const isPlainWord = foldSpelling(method).trim().toUpperCase();
  return !/^[A-Z0-9_-]+$/.test(isPlainWord) || methods.includes(isPlainWord);
}
