import { SpanlineError } from "../../domain/errors.ts";
import { isObject } from "../../domain/json.ts";

/** A tool that the agent may call and that runs on our side. */
export interface InlineFunction {
  readonly type: "inline_function";
  readonly name: string;
  readonly config: {
    readonly inlineFunction: { readonly description: string; readonly inputSchema: JsonSchema };
  };
}

export type JsonSchema = { readonly [keyword: string]: unknown };

/** The part of a Standard Schema that says it in JSON Schema. Zod has it from 4.2 on. */
export interface SchemaWithJson {
  readonly "~standard": {
    readonly jsonSchema: {
      readonly input: (options: { readonly target: "draft-2020-12" }) => Record<string, unknown>;
    };
  };
}

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const LONGEST_DESCRIPTION = 4096;

/** Declares a tool to the agent. The schema goes through as it is: enums, defaults, nesting and all. */
export function inlineFunction(
  name: string,
  description: string,
  schema: JsonSchema | SchemaWithJson,
): InlineFunction {
  if (!NAME.test(name)) {
    throw new SpanlineError(
      "invalid_tool",
      `Tool name "${name}" is not allowed; use 1 to 64 letters, digits, "_" and "-"`,
    );
  }
  if (description.length === 0 || description.length > LONGEST_DESCRIPTION) {
    throw new SpanlineError(
      "invalid_tool",
      `The description of "${name}" has ${description.length} characters, wanted 1 to ${LONGEST_DESCRIPTION}`,
    );
  }
  const inputSchema = objectSchema(name, jsonSchemaOf(name, schema));
  return {
    type: "inline_function",
    name,
    config: { inlineFunction: { description, inputSchema } },
  };
}

function jsonSchemaOf(name: string, schema: JsonSchema | SchemaWithJson): JsonSchema {
  // A Standard Schema may be a function as well as an object.
  const standard = (schema as Partial<SchemaWithJson>)["~standard"];
  if (standard === undefined) return schema as JsonSchema;
  if (!isObject(standard.jsonSchema)) {
    throw new SpanlineError(
      "invalid_tool",
      `The schema of "${name}" cannot be written as JSON Schema; pass a JSON Schema or use Zod 4.2 or later`,
    );
  }
  try {
    return standard.jsonSchema.input({ target: "draft-2020-12" });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `The schema of "${name}" cannot be written as JSON Schema: ${reason}`;
    throw new SpanlineError("invalid_tool", message, { cause });
  }
}

/** A tool takes an object. A schema that says nothing at all means a tool without parameters. */
function objectSchema(name: string, schema: JsonSchema): JsonSchema {
  if (Object.keys(schema).length === 0) return { type: "object", properties: {} };
  if (schema["type"] === "object" || schema["type"] === undefined) return schema;
  throw new SpanlineError(
    "invalid_tool",
    `The schema of "${name}" is of type ${JSON.stringify(schema["type"])}, wanted "object"`,
  );
}
