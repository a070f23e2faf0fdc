import { SpanlineError } from "../domain/errors.ts";
import { isObject } from "../domain/json.ts";
import { checkCaps } from "./check-caps.ts";
import { shown } from "../domain/shown.ts";
import { checkKind, optionsAt, wrongOption, type Kind } from "./check-options.ts";
import type { RunOptions } from "./run-options.ts";

const KINDS: { readonly [Name in keyof RunOptions]-?: Kind | undefined } = {
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
export function checkRun(agent: unknown, options: unknown): void {
  checkAgent(agent);
  const given = optionsAt(options, "", Object.keys(KINDS));
  for (const [name, kind] of Object.entries(KINDS)) {
    if (kind !== undefined) checkKind(given[name], name, kind);
  }
  checkCaps(given["caps"]);
  checkParts(given["signal"], "signal", ["addEventListener", "removeEventListener"]);
  checkParts(given["clock"], "clock", ["now", "after", "monotonic"]);
  const { prompt } = given;
  if (typeof prompt === "string") return;
  const message = `prompt is ${shown(prompt)}, wanted a string`;
  throw new SpanlineError("invalid_message", message, { details: { path: "prompt" } });
}

function checkAgent(agent: unknown): void {
  const { facts, provider, tools } = isObject(agent) ? agent : {};
  if (isObject(facts) && isObject(provider) && tools instanceof Map) return;
  const found = isObject(agent) ? "an object that is no agent" : shown(agent);
  throw wrongOption("agent", `The agent is ${found}; make it with defineAgent`);
}

function checkParts(value: unknown, path: string, methods: readonly string[]): void {
  if (value === undefined) return;
  const missing = methods.find((method) => !isObject(value) || typeof value[method] !== "function");
  if (missing === undefined) return;
  const found = isObject(value) ? `an object without ${missing}()` : shown(value);
  throw wrongOption(path, `${path} is ${found}`);
}
