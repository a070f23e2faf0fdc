import type { JsonObject } from "../domain/json.ts";
import { folded } from "./spelling.ts";
import { valuesIn } from "./values-in.ts";

/** The HTTP method that arguments name, in upper case; undefined where they name none. */
export function methodFact(input: JsonObject): string | undefined {
  const { values, isWhole } = valuesIn(input, /^method$/i);
  const given = values.flatMap(({ value, isNamed }) => (isNamed && value !== null ? [value] : []));
  const texts = given.map((value) => (typeof value === "string" ? value.toUpperCase() : UNKNOWN));
  const [first, ...others] = new Set(texts);
  if (first === undefined) return isWhole ? undefined : UNKNOWN;
  return isWhole && others.length === 0 && first.length <= LONGEST_METHOD ? first : UNKNOWN;
}

/** No method, so that it fits no rule that allows and every rule that does not. */
const UNKNOWN = "…";
const LONGEST_METHOD = 32;

/** For rules that deny or ask: what is no plain word may be any method to whoever reads it. */
export function mayBeMethod(method: string, methods: readonly string[]): boolean {
  const plain = folded(method).trim().toUpperCase();
  return !/^[A-Z0-9_-]+$/.test(plain) || methods.includes(plain);
}
