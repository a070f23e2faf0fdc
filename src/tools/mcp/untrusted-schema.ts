import { thrownMessage } from "../../domain/errors.ts";
import { isObject, jsonText, type JsonObject, type JsonValue } from "../../domain/json.ts";
import { TimeLimitError, withinTime } from "../../platform/within-time.ts";
import { schemaCompiler, type SchemaCheck, type SchemaCompiler } from "../json-schema-check.ts";
import { cleanLine, cleanText } from "./clean-text.ts";
import { isDeeper } from "../../domain/is-deeper.ts";
import { MCP_LIMITS } from "./limits.ts";

/** A schema that somebody else wrote, to be told to a model: what is wrong with it, or how it can be told. */
export type ReadSchema =
  | { readonly schema: JsonObject; readonly problem?: undefined }
  | { readonly schema?: undefined; readonly problem: string; readonly isSlow?: boolean };

export function readSchema(given: unknown): ReadSchema {
  if (!isJsonObject(given)) return { problem: "it is no object" };
  const text = jsonText(given);
  if (text.length > MCP_LIMITS.schemaCharacters) {
    return { problem: `it has more than ${MCP_LIMITS.schemaCharacters} characters` };
  }
  if (isDeeper(given, MCP_LIMITS.schemaDepth)) {
    return { problem: `it is nested deeper than ${MCP_LIMITS.schemaDepth} levels` };
  }
  try {
    const problem = limited(given, () => compiler().problemWith(given));
    if (problem === undefined) return { schema: cleaned(given) };
    return { problem: cleanLine(problem, 300) };
  } catch (error) {
    return {
      problem: cleanLine(thrownMessage(error), 300),
      isSlow: error instanceof TimeLimitError,
    };
  }
}

/**
 * Checks by a schema that somebody else wrote: it takes neither for ever, nor down the process. A check that cannot be made
 * lets nothing through.
 */
export function untrustedCheck(schema: JsonObject, what?: string): SchemaCheck {
  let check: SchemaCheck | undefined;
  return (value) => {
    try {
      return limited(schema, () => {
        check ??= compiler().check(schema, what);
        return check(value);
      });
    } catch (error) {
      return `its schema cannot be used: ${cleanLine(thrownMessage(error), 300)}`;
    }
  };
}

function limited<Value>(schema: JsonObject, work: () => Value): Value {
  // Loading is our time, not the schema's.
  compiler().prepareFor(schema);
  try {
    return withinTime(MCP_LIMITS.checkMs, work);
  } catch (error) {
    // It was stopped in the middle of something, and is not used again.
    if (error instanceof TimeLimitError) shared = undefined;
    throw error;
  }
}

let shared: SchemaCompiler | undefined;

function compiler(): SchemaCompiler {
  return (shared ??= schemaCompiler());
}

/** What is said in it, without what is not seen. What is compared with arguments stays as it is. */
function cleaned(schema: JsonObject): JsonObject {
  const entries = Object.entries(schema).map(([key, value]): [string, JsonValue] => {
    if (typeof value === "string" && SAID.has(key)) {
      return [key, cleanText(value, MCP_LIMITS.descriptionCharacters)];
    }
    return [key, COMPARED.has(key) ? value : cleanedValue(value)];
  });
  return Object.fromEntries(entries);
}

const SAID = new Set(["title", "description", "$comment"]);
const COMPARED = new Set(["enum", "const", "default", "examples"]);

function cleanedValue(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(cleanedValue);
  return isJsonObject(value) ? cleaned(value) : value;
}

function isJsonObject(value: unknown): value is JsonObject {
  return isObject(value);
}
