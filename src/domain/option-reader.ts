import type { Schema } from "../data/schema-reader.ts";
import { SchemaError } from "../data/schema-error.ts";
import { SpanlineError } from "./errors.ts";

/** Options by name, as passed by an untyped caller. */
export interface UncheckedOptions {
  readonly [name: string]: unknown;
}

/** Reads a value by a schema. Throws `invalid_option` with the path of the first problem. */
export function readOptions<Value>(schema: Schema<Value>, value: unknown, path: string): Value {
  try {
    return schema(value, path);
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    throw createInvalidOptionError(error.issues[0].path, error.message);
  }
}

export function createInvalidOptionError(path: string, message: string): SpanlineError {
  return new SpanlineError("invalid_option", message, { details: { path } });
}
