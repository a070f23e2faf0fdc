import { isObject, type JsonValue } from "../../domain/json.ts";
import { shown } from "../../domain/shown.ts";
import { wrong } from "./fields.ts";
import { LONGEST } from "./limits.ts";

/** Any JSON of a reasonable size, its keys in order, so that the same data is the same text. */
export function jsonAt(value: unknown, path: string): JsonValue {
  const read = sorted(value, path, 0);
  if (JSON.stringify(read).length <= LONGEST.value) return read;
  throw wrong(path, `is longer than ${LONGEST.value} characters as JSON`);
}

const DEEPEST = 20;

function sorted(value: unknown, path: string, depth: number): JsonValue {
  if (depth > DEEPEST) throw wrong(path, `is nested deeper than ${DEEPEST} levels`);
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (Array.isArray(value)) return value.map((one, at) => sorted(one, `${path}[${at}]`, depth + 1));
  if (!isObject(value)) throw wrong(path, `is ${shown(value)}, which JSON has no form for`);
  const names = Object.keys(value).sort();
  return Object.fromEntries(
    names.map((name) => [name, sorted(value[name], `${path}.${name}`, depth + 1)]),
  );
}
