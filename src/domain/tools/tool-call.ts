import {
  isObject,
  toJsonText,
  parseJson,
  type JsonObject,
  type JsonValue,
} from "../../data/json.ts";

/**
 * Where a tool runs: `client`: here, under our policy. `server`: at the provider, before the session learns of the
 * call.
 */
export type Runner = "client" | "server";

export interface ToolInputError {
  /** `incomplete`: the stream stopped inside the arguments. */
  readonly problem: "invalid-json" | "not-an-object" | "incomplete";
  readonly message: string;
}

interface ToolCallFields {
  readonly id: string;
  readonly name: string;
  /** The arguments as streamed; displayed if they cannot be parsed. */
  readonly inputText: string;
  readonly runBy: Runner;
  /** The server which offers the tool. Absent if the provider does not name one. */
  readonly server?: string;
}

/** A tool call. Unparsable arguments leave `input` null, so the tool cannot run with `{}` by mistake. */
export type ToolCall = ToolCallFields &
  (
    | { readonly input: JsonObject; readonly inputError?: undefined }
    | { readonly input: null; readonly inputError: ToolInputError }
  );

export type ToolResultPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "json"; readonly value: JsonValue }
  /** Content of a kind unknown to this version, unchanged. */
  | { readonly type: "unknown"; readonly raw: unknown };

export interface ToolResult {
  readonly toolCallId: string;
  readonly parts: readonly ToolResultPart[];
  readonly isError: boolean;
  /** The provider's metadata of the result. */
  readonly metadata?: unknown;
}

/** The result of a successful tool. A string becomes text, `undefined` no content, any other value JSON. */
export function createToolSuccess(toolCallId: string, output: unknown): ToolResult {
  if (output === undefined) return { toolCallId, parts: [], isError: false };
  const part: ToolResultPart =
    typeof output === "string"
      ? { type: "text", text: output }
      : { type: "json", value: JSON.parse(toJsonText(output)) };
  return { toolCallId, parts: [part], isError: false };
}

/** The result of a failed tool; `message` is for the model. */
export function createToolError(toolCallId: string, message: string): ToolResult {
  return { toolCallId, parts: [{ type: "text", text: message }], isError: true };
}

/** A tool call whose stream stopped before its arguments were complete. */
export function createCutToolCall(fields: ToolCallFields): ToolCall {
  const message = "The stream stopped before the arguments were complete";
  return { ...fields, input: null, inputError: { problem: "incomplete", message } };
}

/**
 * Creates a tool call from its streamed arguments. Empty arguments mean `{}`: models omit them for tools without
 * parameters.
 */
export function createToolCall(fields: ToolCallFields): ToolCall {
  if (fields.inputText.trim() === "") return { ...fields, input: {} };
  const parsed = parseJson(fields.inputText);
  if (!parsed.ok) {
    const inputError = { problem: "invalid-json", message: parsed.reason } as const;
    return { ...fields, input: null, inputError };
  }
  const input = parsed.value;
  if (isObject(input)) return { ...fields, input };
  const parsedInput =
    input === null ? "null" : Array.isArray(input) ? "an array" : `a ${typeof input}`;
  const message = `Tool arguments are ${parsedInput}, expected an object`;
  return { ...fields, input: null, inputError: { problem: "not-an-object", message } };
}
