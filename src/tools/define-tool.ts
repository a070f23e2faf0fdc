import { isObject, toJsonText, type JsonObject } from "../data/json.ts";
import { SchemaError, throwInvalid } from "../data/schema-error.ts";
import { object, string, withDefault, type Infer } from "../data/schema-reader.ts";
import { SpanlineError, formatThrown } from "../domain/errors.ts";
import { formatValue } from "../text/format-value.ts";
import { createSchemaCheck } from "./json-schema-check.ts";
import type { Tool, ToolContext } from "./tool.ts";

export interface ToolDefinition<Schema, Input> {
  readonly name: string;
  /** For the model: the purpose of the tool, and when to call it. */
  readonly description: string;
  /** A JSON Schema of an object, or a schema of Zod or any other library with Standard Schema support. */
  readonly input: Schema;
  /** The JSON Schema of `input`, for a library which cannot export it. */
  readonly jsonSchema?: JsonObject;
  /**
   * Whether a second run has no further effect. The bridge repeats an idempotent tool after a crash during a run.
   * Default: false.
   */
  readonly idempotent?: boolean;
  readonly timeoutMs?: number;
  run(input: Input, context: ToolContext): unknown;
}

/**
 * Defines a tool of the app. Throws `invalid_tool` if the definition is invalid.
 *
 * ```ts
 * const weather = defineTool({
 *   name: "weather",
 *   description: "Returns the weather of a city",
 *   input: z.object({ city: z.string() }),
 *   run: ({ city }) => fetchWeather(city),
 * });
 * ```
 */
export function defineTool<Schema extends StandardSchema>(
  definition: ToolDefinition<Schema, StandardOutput<Schema>>,
): Tool;
export function defineTool(definition: ToolDefinition<JsonObject, JsonObject>): Tool;
export function defineTool(definition: ToolDefinition<StandardSchema | JsonObject, unknown>): Tool {
  const { input, idempotent = false } = definition;
  const { name, description, timeoutMs } = readDefinition(definition);
  const reader = isStandardSchema(input)
    ? createStandardReader(name, input, definition.jsonSchema)
    : createJsonReader(name, input);
  return {
    spec: { name, description, schema: reader.schema, idempotent, timeoutMs },
    check(input) {
      try {
        return reader.read(input).problem;
      } catch (error) {
        // An unusable schema accepts no arguments, and the turn continues.
        return formatThrown(error);
      }
    },
    run: (input, context) => definition.run(reader.read(input).value, context),
  };
}

const DEFAULT_TIMEOUT_MS = 120_000;

const DEFINITION = object(
  {
    name: string({
      pattern: /^[a-zA-Z0-9_-]{1,64}$/,
      expected: "1 to 64 letters, digits, _ and -",
    }),
    description: string({
      isFilled: true,
      fix: "describe the purpose of the tool and when to call it",
    }),
    timeoutMs: withDefault(readTimeout, DEFAULT_TIMEOUT_MS),
  },
  { otherNames: "ignore" },
);

/** Infinity is valid: the tool has no time limit of its own. */
function readTimeout(value: unknown, path: string): number {
  return typeof value === "number" && value > 0
    ? value
    : throwInvalid({ path, value, expected: "a number above 0" });
}

/** Throws `invalid_tool` with the path of the first invalid member. */
function readDefinition(definition: { readonly name: unknown }): Infer<typeof DEFINITION> {
  try {
    return DEFINITION(definition, "");
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    const message = `The definition of the tool ${formatValue(definition.name)} is not valid: ${error.message}`;
    throw createToolError(error.issues[0].path, message, error);
  }
}

interface InputReader {
  readonly schema: JsonObject;
  read(input: JsonObject): { readonly value?: unknown; readonly problem?: string };
}

function isStandardSchema(schema: StandardSchema | JsonObject): schema is StandardSchema {
  return "~standard" in schema;
}

function createJsonReader(name: string, schema: JsonObject): InputReader {
  if (schema.type !== "object") {
    throw createToolError(
      "input",
      `The schema of ${name} does not describe an object. Fix: add "type": "object"`,
    );
  }
  let check: ReturnType<typeof createSchemaCheck> | undefined;
  return {
    schema,
    read(value) {
      check ??= compileSchema(name, schema);
      const problem = check(value);
      return problem === undefined ? { value } : { problem };
    },
  };
}

function compileSchema(name: string, schema: JsonObject): ReturnType<typeof createSchemaCheck> {
  try {
    return createSchemaCheck(schema);
  } catch (cause) {
    const message = `The schema of ${name} is not a valid JSON Schema: ${formatThrown(cause)}`;
    throw createToolError("input", message, cause);
  }
}

function createStandardReader(
  name: string,
  { "~standard": standard }: StandardSchema,
  providedSchema: JsonObject | undefined,
): InputReader {
  const jsonSchema = providedSchema ?? standard.jsonSchema?.input({ target: "draft-2020-12" });
  if (jsonSchema === undefined) {
    const message = `${standard.vendor} cannot export the JSON Schema of ${name}. Fix: pass it as jsonSchema`;
    throw createToolError("jsonSchema", message);
  }
  const schema: unknown = JSON.parse(toJsonText(jsonSchema));
  if (!isJsonObject(schema) || schema.type !== "object") {
    throw createToolError("input", `The schema of ${name} does not describe an object`);
  }
  return {
    schema,
    read(input) {
      const result = standard.validate(input);
      if (result instanceof Promise) {
        throw createToolError(
          "input",
          `The schema of ${name} validates asynchronously. Fix: use a synchronous schema`,
        );
      }
      if (result.issues === undefined) return { value: result.value };
      return { problem: result.issues.map(formatIssue).join("; ") };
    },
  };
}

function isJsonObject(value: unknown): value is JsonObject {
  return isObject(value);
}

function formatIssue({ message, path = [] }: StandardIssue): string {
  const where = path.map((step) => String(typeof step === "object" ? step.key : step)).join(".");
  return where === "" ? message : `${where}: ${message}`;
}

function createToolError(path: string, message: string, cause?: unknown): SpanlineError {
  return new SpanlineError("invalid_tool", message, { details: { path }, cause });
}

/** The part of Standard Schema (https://standardschema.dev) used here. */
interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly jsonSchema?: {
      readonly input: (options: { readonly target: "draft-2020-12" }) => { [key: string]: unknown };
    };
  };
}

type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

type StandardOutput<Schema extends StandardSchema> = NonNullable<
  Schema["~standard"]["types"]
>["output"];
