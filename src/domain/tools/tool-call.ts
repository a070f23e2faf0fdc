import {
  isObject,
  toJsonText,
  parseJson,
  type JsonObject,
  type JsonValue,
} from "../../data/json.ts";

/** Where a tool runs: here, under our policy, or on the provider's side before we hear of it. */
export type Runner = "client" | "server";

export interface ToolInputError {
  /** `incomplete`: the stream stopped before the arguments did. */
  readonly problem: "invalid-json" | "not-an-object" | "incomplete";
  readonly message: string;
}

interface ToolCallFields {
  readonly id: string;
  readonly name: string;
  /** The arguments exactly as they were streamed; also what is shown when they cannot be read. */
  readonly inputText: string;
  readonly runBy: Runner;
  /** The server that offers the tool, where the provider names one. */
  readonly server?: string;
}

/** A call whose arguments cannot be read has no `input` at all, so that nobody can run it with `{}` by mistake. */
export type ToolCall = ToolCallFields &
  (
    | { readonly input: JsonObject; readonly inputError?: undefined }
    | { readonly input: null; readonly inputError: ToolInputError }
  );

export type ToolResultPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "json"; readonly value: JsonValue }
  /** A kind of content that this version does not know, as it came. */
  | { readonly type: "unknown"; readonly raw: unknown };

export interface ToolResult {
  readonly toolCallId: string;
  readonly parts: readonly ToolResultPart[];
  readonly isError: boolean;
  /** What the provider says about the result beside its content. */
  readonly metadata?: unknown;
}

/** The result of a tool that did its work. Text goes as text, anything else as its JSON, nothing as no output. */
export function toolSuccess(toolCallId: string, output: unknown): ToolResult {
  if (output === undefined) return { toolCallId, parts: [], isError: false };
  const part: ToolResultPart =
    typeof output === "string"
      ? { type: "text", text: output }
      : { type: "json", value: JSON.parse(toJsonText(output)) };
  return { toolCallId, parts: [part], isError: false };
}

/** The result of a tool that did not; `message` is for the model. */
export function toolError(toolCallId: string, message: string): ToolResult {
  return { toolCallId, parts: [{ type: "text", text: message }], isError: true };
}

/** A call whose arguments the stream did not live to bring. */
export function createCutToolCall(fields: ToolCallFields): ToolCall {
  const message = "The stream stopped before the arguments were complete";
  return { ...fields, input: null, inputError: { problem: "incomplete", message } };
}

/** Builds a call from its streamed arguments. No arguments at all means an empty object, as models do it. */
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
  const message = `Tool arguments are ${parsedInput}, wanted an object`;
  return { ...fields, input: null, inputError: { problem: "not-an-object", message } };
}
