import { SpanlineError } from "../../domain/errors.ts";
import { isObject } from "../../domain/json.ts";
import { nearNames } from "../../domain/near-names.ts";
import { shown } from "../../domain/shown.ts";

/** The fields of one part of a document by their names, those that it has itself. */
export type Fields = ReadonlyMap<string, unknown>;

export function wrong(path: string, message: string): SpanlineError {
  return new SpanlineError("invalid_option", `${path} ${message}`, { details: { path } });
}

/** Fields that are known. One that is misspelt would be as good as not given, and a policy would not do what it says. */
export function fieldsAt(value: unknown, path: string, names: readonly string[]): Fields {
  if (!isObject(value)) throw wrong(path, `is ${shown(value)}, wanted an object`);
  const fields = new Map(Object.entries(value).filter(([, given]) => given !== undefined));
  for (const name of fields.keys()) {
    if (!names.includes(name)) throw unknownField(path, name, names);
  }
  return fields;
}

function unknownField(path: string, name: string, names: readonly string[]): SpanlineError {
  const [near] = nearNames(name.slice(0, 100), names);
  const instead = near === undefined ? `there are ${names.join(", ")}` : `did you mean ${near}?`;
  return wrong(`${path}.${name.slice(0, 100)}`, `is not known; ${instead}`);
}

/** The one of several names for the same field that was given. */
export function oneOf(fields: Fields, path: string, names: readonly string[]): string | undefined {
  const [first, second] = names.filter((name) => fields.has(name));
  if (second === undefined) return first;
  throw wrong(`${path}.${second}`, `says again what ${first} says; give one of them`);
}

export function textAt(value: unknown, path: string, longest: number): string {
  if (typeof value !== "string") throw wrong(path, `is ${shown(value)}, wanted text`);
  if (value.trim() === "") throw wrong(path, "is empty");
  if (value.length > longest) throw wrong(path, `is longer than ${longest} characters`);
  return value;
}

export function flagAt(value: unknown, path: string): boolean {
  if (value === undefined) return false;
  if (typeof value !== "boolean") throw wrong(path, `is ${shown(value)}, wanted true or false`);
  return value;
}

export function countAt(value: unknown, path: string, least: number, most: number): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= least && value <= most)
    return value;
  throw wrong(path, `is ${shown(value)}, wanted a whole number from ${least} to ${most}`);
}

export function choiceAt<Choice extends string>(
  value: unknown,
  path: string,
  choices: readonly Choice[],
): Choice {
  const found = choices.find((choice) => choice === value);
  if (found !== undefined) return found;
  const [near] = typeof value === "string" ? nearNames(value.slice(0, 100), choices) : [];
  const instead = near === undefined ? "" : `; did you mean ${near}?`;
  throw wrong(path, `is ${shown(value)}, wanted ${choices.join(", ")}${instead}`);
}

export function listAt(value: unknown, path: string, most: number): readonly unknown[] {
  if (!Array.isArray(value)) throw wrong(path, `is ${shown(value)}, wanted a list`);
  if (value.length > most) throw wrong(path, `has more than ${most} entries`);
  return value;
}
