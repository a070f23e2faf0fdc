import { isObject, toJsonText } from "../../data/json.ts";
import { SpanlineError } from "../../domain/errors.ts";

/** Mutable JSON: the receiver owns a request and may change the value. */
export type JsonDocument =
  | null
  | boolean
  | number
  | string
  | JsonDocument[]
  | { [key: string]: JsonDocument };

/** The messages of an InvokeHarness request, as encoded on the wire. */
export interface ConverseMessage {
  role: "user" | "assistant";
  content: ConverseContent[];
}

/** A message of text only. Valid on the wire and in the types of the AWS SDK. */
export interface UserMessage {
  role: "user";
  content: { text: string }[];
}

export type ConverseContent =
  | { text: string }
  | { toolUse: ToolUseContent }
  | { toolResult: ToolResultContent }
  | { reasoningContent: ReasoningContent };

export interface ToolUseContent {
  toolUseId: string;
  name: string;
  input: JsonDocument;
  type: "tool_use";
}

export interface ToolResultContent {
  toolUseId: string;
  content: ({ text: string } | { json: JsonDocument })[];
  status: "success" | "error";
  type: "tool_use";
}

/** Redacted reasoning is base64 here. The AWS SDK expects bytes: see `toSdkMessages`. */
export type ReasoningContent =
  | { reasoningText: { text: string; signature?: string } }
  | { redactedContent: string };

/**
 * Creates the messages of an ordinary turn: the new user message only. The provider stores the conversation; sending
 * earlier messages again would duplicate them. Throws `invalid_message` if a text is blank.
 */
export function createUserMessages(...texts: readonly string[]): [UserMessage] {
  if (texts.length === 0 || texts.some((text) => text.trim() === "")) {
    throw new SpanlineError("invalid_message", "Cannot send an empty message; give it some text");
  }
  return [{ role: "user", content: texts.map((text) => ({ text: text.toWellFormed() })) }];
}

/** A tool offered to the agent for one invocation. The tool runs on the client's side. */
export interface InlineFunction {
  type: "inline_function";
  name: string;
  config: { inlineFunction: { description: string; inputSchema: { [key: string]: JsonDocument } } };
}

/** The part of a Standard Schema with the conversion to JSON Schema. Zod supports this from 4.2. */
export interface SchemaWithJson {
  readonly "~standard": {
    readonly jsonSchema: {
      readonly input: (options: { readonly target: "draft-2020-12" }) => Record<string, unknown>;
    };
  };
}

const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const MAX_DESCRIPTION_LENGTH = 4096;

/**
 * Declares a tool to the agent. `schema` is a JSON Schema, or a Standard Schema with a JSON Schema conversion such as
 * Zod. The schema is sent unchanged, with enums, defaults and nested objects.
 *
 * Throws `invalid_tool` if the service would refuse the name (1 to 64 letters, digits, `_`, `-`), the description (1 to
 * 4,096 characters) or the type of the schema.
 */
export function createInlineFunction(
  name: string,
  description: string,
  schema: object | SchemaWithJson,
): InlineFunction {
  if (!TOOL_NAME.test(name)) {
    throw new SpanlineError(
      "invalid_tool",
      `Tool name "${name}" is not allowed; use 1 to 64 letters, digits, "_" and "-"`,
    );
  }
  if (description.length === 0 || description.length > MAX_DESCRIPTION_LENGTH) {
    throw new SpanlineError(
      "invalid_tool",
      `The description of "${name}" has ${description.length} characters: expected 1 to ${MAX_DESCRIPTION_LENGTH}`,
    );
  }
  const inputSchema = toObjectSchema(name, resolveJsonSchema(name, schema));
  return {
    type: "inline_function",
    name,
    config: { inlineFunction: { description, inputSchema } },
  };
}

function resolveJsonSchema(name: string, schema: object): unknown {
  const standard = "~standard" in schema ? schema["~standard"] : undefined;
  if (standard === undefined) return schema;
  // A Standard Schema may be a function or an object.
  if (!hasJsonSchema(standard)) {
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

function hasJsonSchema(standard: unknown): standard is SchemaWithJson["~standard"] {
  return isObject(standard) && isObject(standard["jsonSchema"]);
}

/** The input of a tool is always an object. An empty schema means a tool without parameters. */
function toObjectSchema(name: string, schema: unknown): { [key: string]: JsonDocument } {
  const copy: JsonDocument = JSON.parse(toJsonText(schema));
  if (typeof copy !== "object" || copy === null || Array.isArray(copy)) {
    throw new SpanlineError("invalid_tool", `The schema of "${name}" is not a JSON Schema object`);
  }
  if (Object.keys(copy).length === 0) return { type: "object", properties: {} };
  const { type } = copy;
  if (type === "object" || type === undefined) return copy;
  throw new SpanlineError(
    "invalid_tool",
    `The schema of "${name}" has the type ${JSON.stringify(type)}: expected "object"`,
  );
}
