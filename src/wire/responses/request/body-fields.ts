import type { JsonBudget } from "../../../data/json-budget.ts";
import { isObject, type JsonObject, type JsonValue } from "../../../data/json.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";
import type { BudgetCaps } from "../../../domain/budget.ts";
import { TRACE_MODES, type TraceMode } from "../../../domain/responses-settings.ts";
import {
  anything,
  array,
  boolean,
  integer,
  json,
  nullish,
  number,
  object,
  oneOf,
  optional,
  record,
  string,
  type Schema,
} from "../../../data/schema-reader.ts";
import { SchemaError, throwProblem } from "../../../data/schema-error.ts";
import { createFieldError, createRequestError } from "./request-error.ts";

/** An object of a request before validation. */
export type Fields = { readonly [key: string]: unknown };

/** Joins a path and a field name, for error messages. */
export function joinPath(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

/**
 * Reads a field by a schema. The error names the field in `param`, and its `code` is one that clients branch on. `param` is
 * the exact path unless it is passed.
 */
function readField<Value>(
  schema: Schema<Value>,
  value: unknown,
  path: string,
  param?: string,
): Value {
  try {
    return schema(value, path);
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    const [issue] = error.issues;
    throw createRequestError(issue.message, { param: param ?? issue.path, code: issue.code });
  }
}

export function readObject(value: unknown, path: string): Fields {
  return isObject(value) ? value : readField(object({}), value, path);
}

/** Reads an array with at most `maxEntries` entries. */
export function readList(value: unknown, path: string, maxEntries: number): readonly unknown[] {
  return readField(array(anything, { max: maxEntries }), value, path);
}

export function readString(value: unknown, path: string, maxLength: number): string {
  return readField(string({ max: maxLength }), value, path);
}

/** Reads an optional string. Null and absent are the same. */
export function readOptionalString(
  fields: Fields,
  name: string,
  path: string,
  maxLength: number,
): string | null {
  return readField(nullish(string({ max: maxLength })), fields[name], joinPath(path, name));
}

export function readOptionalBoolean(fields: Fields, name: string, path = ""): boolean | null {
  return readField(nullish(boolean()), fields[name], joinPath(path, name));
}

export interface NumberRange {
  readonly min: number;
  readonly max: number;
  readonly isInteger?: true;
}

export function readOptionalNumber(
  fields: Fields,
  name: string,
  { min, max, isInteger }: NumberRange,
): number | null {
  const schema = isInteger === true ? integer({ min, max }) : number({ min, max });
  return readField(nullish(schema), fields[name], name);
}

export function readOptionalChoice<Choice extends string>(
  fields: Fields,
  name: string,
  choices: readonly Choice[],
  path = "",
): Choice | null {
  return readField(nullish(oneOf(choices)), fields[name], joinPath(path, name));
}

export function readChoice<Choice extends string>(
  value: unknown,
  path: string,
  choices: readonly Choice[],
): Choice {
  return readField(oneOf(choices), value, path);
}

const JSON_SCHEMA = json({ maxDepth: 100 });

/** Any JSON value, not nested so deep that a later reader would overflow. A key `__proto__` is data. */
export function readJson(value: unknown, path: string): JsonValue {
  return readField(JSON_SCHEMA, value, path, path);
}

export function readJsonObject(value: unknown, path: string): JsonObject {
  const read = readJson(readObject(value, path), path);
  return isJsonObject(read) ? read : {};
}

function isJsonObject(value: JsonValue): value is JsonObject {
  return isObject(value);
}

/**
 * Throws `too_large` if the JSON texts inside the strings of a request exceed the limits of values and members for a
 * body.
 */
export function checkNestedJson(text: string, path: string, budget: JsonBudget): void {
  const limit = budget.spend(text);
  if (limit !== undefined)
    throw createFieldError(
      path,
      `exceeds the limit of ${limit} in the JSON strings of a request; send less`,
      "too_large",
    );
}

export function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

/** Reads a trace mode from a header, a query parameter, a setting or a body field named `param`. */
export function readTraceMode(value: unknown, param: string): TraceMode {
  return readChoice(value, param, TRACE_MODES);
}

/** Reads metadata: at most 16 pairs, names of up to 64 characters, values of up to 512. */
/** Reads the budget of a turn. `tool_calls` is the wire name of the unit `toolCalls`. */
export function readBudget(value: unknown): BudgetCaps | null {
  if (isAbsent(value)) return null;
  const { tool_calls: toolCalls, ...caps } = readField(BUDGET_SCHEMA, value, "budget");
  return { ...caps, ...omitUndefined({ toolCalls }) };
}

const COUNT = optional(integer({ min: 1 }));
const AMOUNT = optional(number({ above: 0 }));
const BUDGET_SCHEMA = object({
  tokens: COUNT,
  seconds: AMOUNT,
  tool_calls: COUNT,
  invocations: COUNT,
  usd: AMOUNT,
});

export function readMetadata(metadata: unknown): { readonly [name: string]: string } {
  return readField(nullish(METADATA), metadata, "metadata") ?? {};
}

const METADATA = record(string({ max: 512 }), { max: 16, name: checkMetadataName });

function checkMetadataName(name: string, path: string): void {
  if (name.length > 64)
    throwProblem(path, `has a name of ${name.length} characters: expected at most 64`);
}
