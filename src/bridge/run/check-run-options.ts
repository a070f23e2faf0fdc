import { SpanlineError } from "../../domain/errors.ts";
import { isObject } from "../../data/json.ts";
import { checkCaps } from "../../config/agent/turn-caps.ts";
import { formatValue } from "../../text/format-value.ts";
import {
  checkType,
  readOptions,
  invalidOptionError,
  type OptionType,
} from "../../config/option-reader.ts";
import type { RunOptions } from "./run-options.ts";

const OPTION_TYPES: { readonly [Name in keyof RunOptions]-?: OptionType | undefined } = {
  prompt: undefined,
  approve: "function",
  onEvent: "function",
  report: "function",
  guard: "function",
  caps: undefined,
  stopAtTerminalTool: "boolean",
  signal: undefined,
  workingDirectory: "string",
  clock: undefined,
};

/** Refuses what cannot be run, and options that nobody knows. */
export function checkRunOptions(agent: unknown, options: unknown): void {
  checkAgent(agent);
  const values = readOptions(options, "", Object.keys(OPTION_TYPES));
  for (const [name, type] of Object.entries(OPTION_TYPES)) {
    if (type !== undefined) checkType(values[name], name, type);
  }
  checkCaps(values["caps"]);
  checkMethods(values["signal"], "signal", ["addEventListener", "removeEventListener"]);
  checkMethods(values["clock"], "clock", ["now", "schedule", "monotonic"]);
  const { prompt } = values;
  if (typeof prompt === "string") return;
  const message = `prompt is ${formatValue(prompt)}, wanted a string`;
  throw new SpanlineError("invalid_message", message, { details: { path: "prompt" } });
}

function checkAgent(agent: unknown): void {
  const { spec, provider, tools } = isObject(agent) ? agent : {};
  if (isObject(spec) && isObject(provider) && tools instanceof Map) return;
  const actual = isObject(agent) ? "an object that is no agent" : formatValue(agent);
  throw invalidOptionError("agent", `The agent is ${actual}; make it with defineAgent`);
}

function checkMethods(value: unknown, path: string, methods: readonly string[]): void {
  if (value === undefined) return;
  const missing = methods.find((method) => !isObject(value) || typeof value[method] !== "function");
  if (missing === undefined) return;
  const actual = isObject(value) ? `an object without ${missing}()` : formatValue(value);
  throw invalidOptionError(path, `${path} is ${actual}`);
}
