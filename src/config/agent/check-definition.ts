import { isObject } from "../../data/json.ts";
import { suggestNames } from "../../text/suggest-name.ts";
import { formatValue } from "../../text/format-value.ts";
import { matchesPattern } from "../../text/match-pattern.ts";
import type { AgentDefinition } from "./agent-definition.ts";
import { checkCaps } from "./turn-caps.ts";
import { checkCommands } from "./check-commands.ts";
import {
  checkPositiveNumber,
  checkWholeNumber,
  checkOneOf,
  readOptions,
  type UncheckedOptions,
  invalidOptionError,
} from "../option-reader.ts";
import { isTool } from "./is-tool.ts";

const OPTION_NAMES: readonly (keyof AgentDefinition)[] = [
  "name",
  "provider",
  "tools",
  "approvals",
  "policy",
  "workspace",
  "mutationScope",
  "mcp",
  "caps",
  "onLost",
  "settle",
  "approvalSeconds",
  "resultsSeconds",
  "invalidToolInput",
  "images",
  "contextTokens",
  "upstream",
  "commands",
  "terminalTool",
];

/** Refuses a definition that cannot work, or that would not do what it seems to say. */
export function checkDefinition(value: unknown): void {
  const options = readOptions(value, "", OPTION_NAMES);
  const { name, provider, policy } = options;
  if (typeof name !== "string" || !/^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,63}$/.test(name)) {
    const message = `${formatValue(name)} is no name for an agent; use letters, digits, _, . and -`;
    throw invalidOptionError("name", name === undefined ? "The agent has no name" : message);
  }
  const { effectFree, providerName, takesImages } = checkProvider(provider);
  const tools = readToolNames(options["tools"], name);
  checkSettings(options, "", tools);
  if (isObject(policy) ? !Array.isArray(policy["layers"]) : policy !== undefined) {
    throw invalidOptionError(
      "policy",
      `policy is ${formatValue(policy)}; make it with definePolicy`,
    );
  }
  checkOneOf(options["mutationScope"], "mutationScope", ["read_only", "apply_workspace"]);
  if (options["images"] === "send" && !takesImages) {
    const message = `${providerName} takes no pictures; use describe or reject`;
    throw invalidOptionError("images", message);
  }
  if (options["onLost"] === "resend" && !effectFree) {
    const message = `Calls of ${providerName} have effects, so that a lost one is never made again; use ask, continue or reseed`;
    throw invalidOptionError("onLost", message);
  }
}

/**
 * What a definition says in plain values. The path is where it stands, empty for a definition by itself. Names of tools are
 * looked for where it is known which there are.
 */
export function checkSettings(
  settings: UncheckedOptions,
  path: string,
  tools?: readonly string[],
): void {
  const { upstream, policy, approvals } = settings;
  const at = (name: string): string => (path === "" ? name : `${path}.${name}`);
  // Two ways to say what may run would leave it open which one holds.
  if (policy !== undefined && approvals !== undefined) {
    const message = `${at("policy")} stands beside approvals: an agent has one of them, and not both`;
    throw invalidOptionError(at("policy"), message);
  }
  checkApprovals(approvals, at("approvals"), tools);
  checkCaps(settings["caps"], at("caps"));
  checkOneOf(settings["onLost"], at("onLost"), ["ask", "continue", "reseed", "resend"]);
  checkOneOf(settings["settle"], at("settle"), ["wait", "stop", "reseed"]);
  checkPositiveNumber(settings["approvalSeconds"], at("approvalSeconds"));
  checkPositiveNumber(settings["resultsSeconds"], at("resultsSeconds"));
  checkPositiveNumber(settings["contextTokens"], at("contextTokens"));
  checkOneOf(settings["invalidToolInput"], at("invalidToolInput"), ["report", "fail"]);
  checkOneOf(settings["images"], at("images"), ["reject", "describe", "send"]);
  if (upstream !== undefined) {
    const { idleSeconds, lifetimeSeconds } = readOptions(upstream, at("upstream"), [
      "idleSeconds",
      "lifetimeSeconds",
    ]);
    checkPositiveNumber(idleSeconds, at("upstream.idleSeconds"));
    checkPositiveNumber(lifetimeSeconds, at("upstream.lifetimeSeconds"));
  }
  checkCommands(settings["commands"], at("commands"));
  checkTerminalTool(settings["terminalTool"], at("terminalTool"), tools);
}

function checkProvider(provider: unknown): {
  effectFree: boolean;
  providerName: string;
  takesImages: boolean;
} {
  const { name, injectionPoints, effectFree, open, capabilities } = isObject(provider)
    ? provider
    : {};
  const takesImages = isObject(capabilities) && capabilities["images"] === true;
  const isProvider =
    typeof name === "string" &&
    Array.isArray(injectionPoints) &&
    typeof effectFree === "boolean" &&
    typeof open === "function";
  if (isProvider) return { effectFree, providerName: name, takesImages };
  const actual = isObject(provider) ? "an object that is no provider" : formatValue(provider);
  const message = `provider is ${actual}; make one with harnessProvider, runtimeProvider or localProvider of "spanline/providers"`;
  throw invalidOptionError("provider", message);
}

function readToolNames(tools: unknown, agent: string): readonly string[] {
  if (tools === undefined) return [];
  if (!Array.isArray(tools)) {
    throw invalidOptionError("tools", `tools is ${formatValue(tools)}, wanted an array`);
  }
  const names = tools.map((tool: unknown, at) => {
    if (!isTool(tool)) {
      throw invalidOptionError(`tools[${at}]`, `tools[${at}] is no tool; make it with defineTool`);
    }
    const { name } = tool.spec;
    if (TOOL_NAME.test(name)) return name;
    const message = `tools[${at}] is named ${formatValue(name)}: expected 1 to 64 letters, digits, _ and -`;
    throw invalidOptionError(`tools[${at}]`, message);
  });
  const twice = names.find((item, at) => names.indexOf(item) !== at);
  if (twice !== undefined)
    throw invalidOptionError("tools", `${agent} has two tools named ${twice}`);
  return names;
}

const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

const APPROVAL_LISTS = ["deny", "ask", "allow"] as const;

function checkApprovals(value: unknown, path: string, tools?: readonly string[]): void {
  if (value === undefined) return;
  const approvals = readOptions(value, path, [...APPROVAL_LISTS, "default"]);
  for (const name of APPROVAL_LISTS) {
    const where = `${path}.${name}`;
    const list = approvals[name];
    if (list === undefined) continue;
    if (!Array.isArray(list)) {
      throw invalidOptionError(
        where,
        `${where} is ${formatValue(list)}, wanted an array of names or patterns`,
      );
    }
    list.forEach((pattern: unknown, at) => checkPattern(pattern, `${where}[${at}]`, tools));
  }
  checkOneOf(approvals["default"], `${path}.default`, ["ask", "allow", "deny"]);
}

/** A pattern that fits no tool has no effect, and whoever wrote it meant it to have one. */
function checkPattern(pattern: unknown, path: string, tools?: readonly string[]): void {
  if (typeof pattern !== "string") {
    throw invalidOptionError(
      path,
      `${path} is ${formatValue(pattern)}, wanted the name of a tool or a pattern`,
    );
  }
  if (tools === undefined || /^\*+$/.test(pattern)) return;
  if (tools.some((tool) => matchesPattern(pattern, tool))) return;
  throw invalidOptionError(
    path,
    `${path} is ${formatValue(pattern)}, which fits no tool${suggestTool(pattern, tools)}`,
  );
}

function checkTerminalTool(value: unknown, path: string, tools?: readonly string[]): void {
  if (value === undefined) return;
  const { name, maxReprompts } = readOptions(value, path, ["name", "maxReprompts"]);
  if (typeof name !== "string" || tools?.includes(name) === false) {
    const instead = typeof name === "string" ? suggestTool(name, tools ?? []) : "";
    throw invalidOptionError(
      path,
      `${path} names ${formatValue(name)}, which is no tool${instead}`,
    );
  }
  checkWholeNumber(maxReprompts, `${path}.maxReprompts`, 0);
}

function suggestTool(name: string, tools: readonly string[]): string {
  const [nearest] = suggestNames(name, tools);
  if (nearest !== undefined) return `; did you mean ${nearest}?`;
  return tools.length === 0 ? "; the agent has none" : `; there are ${tools.join(", ")}`;
}
