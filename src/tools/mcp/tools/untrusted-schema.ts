import { formatThrown } from "../../../domain/errors.ts";
import {
  isObject,
  toJsonText,
  type JsonObject,
  type JsonValue,
  exceedsDepth,
} from "../../../data/json.ts";
import { TimeLimitError, runWithTimeLimit } from "../../../platform/run-with-time-limit.ts";
import {
  createSchemaCompiler,
  type SchemaCheck,
  type SchemaCompiler,
} from "../../json-schema-check.ts";
import { cleanLine, cleanText } from "../../../text/clean-text.ts";
import { MCP_LIMITS } from "../mcp-limits.ts";

/** A foreign schema: cleaned for the model, or the reason why it cannot be used. */
export type ReadSchema =
  | { readonly schema: JsonObject; readonly problem?: undefined }
  | { readonly schema?: undefined; readonly problem: string; readonly isSlow?: boolean };

export function readUntrustedSchema(value: unknown): ReadSchema {
  if (!isJsonObject(value)) return { problem: "it is not an object" };
  const text = toJsonText(value);
  if (text.length > MCP_LIMITS.schemaCharacters) {
    return { problem: `it has more than ${MCP_LIMITS.schemaCharacters} characters` };
  }
  if (exceedsDepth(value, MCP_LIMITS.schemaDepth)) {
    return { problem: `it is nested deeper than ${MCP_LIMITS.schemaDepth} levels` };
  }
  try {
    const problem = runLimited(value, () => getCompiler().findProblem(value));
    if (problem === undefined) return { schema: cleanSchema(value) };
    return { problem: cleanLine(problem, 300) };
  } catch (error) {
    return {
      problem: cleanLine(formatThrown(error), 300),
      isSlow: error instanceof TimeLimitError,
    };
  }
}

/**
 * Creates a check from a foreign schema. The check is time-limited and cannot crash the process. If the check cannot be
 * created, every value is refused.
 */
export function createUntrustedCheck(schema: JsonObject, subject?: string): SchemaCheck {
  let check: SchemaCheck | undefined;
  return (value) => {
    try {
      return runLimited(schema, () => {
        check ??= getCompiler().createCheck(schema, subject);
        return check(value);
      });
    } catch (error) {
      return `its schema cannot be used: ${cleanLine(formatThrown(error), 300)}`;
    }
  };
}

function runLimited<Value>(schema: JsonObject, work: () => Value): Value {
  // Loading the engine does not count against the schema's time limit.
  getCompiler().prepare(schema);
  try {
    return runWithTimeLimit(MCP_LIMITS.checkMs, work);
  } catch (error) {
    // The compiler was interrupted in an unknown state, so it is replaced.
    if (error instanceof TimeLimitError) sharedCompiler = undefined;
    throw error;
  }
}

let sharedCompiler: SchemaCompiler | undefined;

function getCompiler(): SchemaCompiler {
  return (sharedCompiler ??= createSchemaCompiler());
}

/** Removes invisible characters from texts. Values compared with arguments stay unchanged. */
function cleanSchema(schema: JsonObject): JsonObject {
  const entries = Object.entries(schema).map(([key, value]): [string, JsonValue] => {
    if (typeof value === "string" && TEXT_KEYWORDS.has(key)) {
      return [key, cleanText(value, MCP_LIMITS.descriptionCharacters)];
    }
    return [key, VALUE_KEYWORDS.has(key) ? value : cleanValue(value)];
  });
  return Object.fromEntries(entries);
}

const TEXT_KEYWORDS = new Set(["title", "description", "$comment"]);
const VALUE_KEYWORDS = new Set(["enum", "const", "default", "examples"]);

function cleanValue(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(cleanValue);
  return isJsonObject(value) ? cleanSchema(value) : value;
}

function isJsonObject(value: unknown): value is JsonObject {
  return isObject(value);
}
