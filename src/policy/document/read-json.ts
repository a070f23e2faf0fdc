import { isObject, type JsonValue } from "../../data/json.ts";
import { formatValue } from "../../text/format-value.ts";
import { createPolicyError } from "./read-fields.ts";
import { MAX_LENGTHS } from "./policy-limits.ts";

/** Any JSON of a reasonable size, its keys in order, so that the same data is the same text. */
export function readJson(value: unknown, path: string): JsonValue {
  const read = sortKeys(value, path, 0);
  if (JSON.stringify(read).length <= MAX_LENGTHS.value) return read;
  throw createPolicyError(path, `is longer than ${MAX_LENGTHS.value} characters as JSON`);
}

const MAX_DEPTH = 20;

function sortKeys(value: unknown, path: string, depth: number): JsonValue {
  if (depth > MAX_DEPTH) throw createPolicyError(path, `is nested deeper than ${MAX_DEPTH} levels`);
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (Array.isArray(value))
    return value.map((item, at) => sortKeys(item, `${path}[${at}]`, depth + 1));
  if (!isObject(value))
    throw createPolicyError(path, `is ${formatValue(value)}, which JSON has no form for`);
  const names = Object.keys(value).sort();
  return Object.fromEntries(
    names.map((name) => [name, sortKeys(value[name], `${path}.${name}`, depth + 1)]),
  );
}
