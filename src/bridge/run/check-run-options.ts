import { SchemaError, throwInvalid } from "../../data/schema-error.ts";
import {
  anything,
  boolean,
  object,
  optional,
  string,
  type Schema,
} from "../../data/schema-reader.ts";
import { SpanlineError } from "../../domain/errors.ts";
import { isObject } from "../../data/json.ts";
import { CAPS_SCHEMA } from "../../config/agent/turn-caps.ts";
import { readOptions } from "../../domain/option-reader.ts";
import type { RunOptions } from "./run-options.ts";

const FUNCTION = optional((value, path) =>
  typeof value === "function" ? value : throwInvalid({ path, value, expected: "a function" }),
);

const OPTIONS_SHAPE: { readonly [Name in keyof RunOptions]-?: Schema<unknown> } = {
  prompt: anything,
  approve: FUNCTION,
  onEvent: FUNCTION,
  report: FUNCTION,
  guard: FUNCTION,
  caps: optional(CAPS_SCHEMA),
  stopAtTerminalTool: optional(boolean()),
  signal: createMethodsSchema(["addEventListener", "removeEventListener"]),
  workingDirectory: optional(string()),
  clock: createMethodsSchema(["now", "schedule", "monotonic"]),
};

/**
 * Throws `invalid_option` for an invalid agent and for invalid or unknown options, and `invalid_message` for an invalid
 * prompt.
 */
export function checkRunOptions(agent: unknown, options: unknown): void {
  readOptions(checkAgent, agent, "agent");
  const { prompt } = readOptions(object(OPTIONS_SHAPE), options, "");
  try {
    string()(prompt, "prompt");
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    throw new SpanlineError("invalid_message", error.message, { details: { path: "prompt" } });
  }
}

function checkAgent(value: unknown, path: string): void {
  const { spec, provider, tools } = isObject(value) ? value : {};
  if (isObject(spec) && isObject(provider) && tools instanceof Map) return;
  throwInvalid({ path, value, expected: "an agent", fix: "create it with defineAgent" });
}

function createMethodsSchema(methods: readonly string[]): Schema<unknown> {
  const expected = `an object with ${methods.map((method) => `${method}()`).join(", ")}`;
  return optional((value, path) => {
    const hasAll = methods.every((name) => isObject(value) && typeof value[name] === "function");
    return hasAll ? value : throwInvalid({ path, value, expected });
  });
}
