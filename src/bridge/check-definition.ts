import { isObject } from "../domain/json.ts";
import { nearNames } from "../domain/near-names.ts";
import { shown } from "../domain/shown.ts";
import { fitsPattern } from "../domain/tool-pattern.ts";
import type { AgentDefinition } from "./agent-definition.ts";
import { checkCaps } from "./check-caps.ts";
import { checkCommands } from "./check-commands.ts";
import {
  checkAmount,
  checkCount,
  checkOneOf,
  optionsAt,
  type Given,
  wrongOption,
} from "./check-options.ts";
import { isTool } from "./is-tool.ts";

const NAMES: readonly (keyof AgentDefinition)[] = [
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
  const given = optionsAt(value, "", NAMES);
  const { name, provider, policy } = given;
  if (typeof name !== "string" || !/^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,63}$/.test(name)) {
    const message = `${shown(name)} is no name for an agent; use letters, digits, _, . and -`;
    throw wrongOption("name", name === undefined ? "The agent has no name" : message);
  }
  const { effectFree, providerName, takesImages } = checkProvider(provider);
  const tools = toolNames(given["tools"], name);
  checkSettings(given, "", tools);
  if (isObject(policy) ? !Array.isArray(policy["layers"]) : policy !== undefined) {
    throw wrongOption("policy", `policy is ${shown(policy)}; make it with definePolicy`);
  }
  checkOneOf(given["mutationScope"], "mutationScope", ["read_only", "apply_workspace"]);
  if (given["images"] === "send" && !takesImages) {
    const message = `${providerName} takes no pictures; use describe or reject`;
    throw wrongOption("images", message);
  }
  if (given["onLost"] === "resend" && !effectFree) {
    const message = `Calls of ${providerName} have effects, so that a lost one is never made again; use ask, continue or reseed`;
    throw wrongOption("onLost", message);
  }
}

/**
 * What a definition says in plain values. The path is where it stands, empty for a definition by itself. Names of tools are
 * looked for where it is known which there are.
 */
export function checkSettings(given: Given, path: string, tools?: readonly string[]): void {
  const { upstream, policy, approvals } = given;
  const at = (name: string): string => (path === "" ? name : `${path}.${name}`);
  // Two ways to say what may run would leave it open which one holds.
  if (policy !== undefined && approvals !== undefined) {
    const message = `${at("policy")} stands beside approvals: an agent has one of them, and not both`;
    throw wrongOption(at("policy"), message);
  }
  checkApprovals(approvals, at("approvals"), tools);
  checkCaps(given["caps"], at("caps"));
  checkOneOf(given["onLost"], at("onLost"), ["ask", "continue", "reseed", "resend"]);
  checkOneOf(given["settle"], at("settle"), ["wait", "stop", "reseed"]);
  checkAmount(given["approvalSeconds"], at("approvalSeconds"));
  checkAmount(given["resultsSeconds"], at("resultsSeconds"));
  checkAmount(given["contextTokens"], at("contextTokens"));
  checkOneOf(given["invalidToolInput"], at("invalidToolInput"), ["report", "fail"]);
  checkOneOf(given["images"], at("images"), ["reject", "describe", "send"]);
  if (upstream !== undefined) {
    const { idleSeconds, lifetimeSeconds } = optionsAt(upstream, at("upstream"), [
      "idleSeconds",
      "lifetimeSeconds",
    ]);
    checkAmount(idleSeconds, at("upstream.idleSeconds"));
    checkAmount(lifetimeSeconds, at("upstream.lifetimeSeconds"));
  }
  checkCommands(given["commands"], at("commands"));
  checkTerminalTool(given["terminalTool"], at("terminalTool"), tools);
}

function checkProvider(provider: unknown): {
  effectFree: boolean;
  providerName: string;
  takesImages: boolean;
} {
  const { name, seams, effectFree, open, takes } = isObject(provider) ? provider : {};
  const takesImages = isObject(takes) && takes["images"] === true;
  const isProvider =
    typeof name === "string" &&
    Array.isArray(seams) &&
    typeof effectFree === "boolean" &&
    typeof open === "function";
  if (isProvider) return { effectFree, providerName: name, takesImages };
  const found = isObject(provider) ? "an object that is no provider" : shown(provider);
  const message = `provider is ${found}; make one with harnessProvider, runtimeProvider or localProvider of "spanline/providers"`;
  throw wrongOption("provider", message);
}

function toolNames(tools: unknown, agent: string): readonly string[] {
  if (tools === undefined) return [];
  if (!Array.isArray(tools)) {
    throw wrongOption("tools", `tools is ${shown(tools)}, wanted an array`);
  }
  const names = tools.map((tool: unknown, at) => {
    if (!isTool(tool)) {
      throw wrongOption(`tools[${at}]`, `tools[${at}] is no tool; make it with defineTool`);
    }
    const { name } = tool.facts;
    if (TOOL_NAME.test(name)) return name;
    const message = `tools[${at}] is named ${shown(name)}: expected 1 to 64 letters, digits, _ and -`;
    throw wrongOption(`tools[${at}]`, message);
  });
  const twice = names.find((one, at) => names.indexOf(one) !== at);
  if (twice !== undefined) throw wrongOption("tools", `${agent} has two tools named ${twice}`);
  return names;
}

const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

const LISTS = ["deny", "ask", "allow"] as const;

function checkApprovals(value: unknown, path: string, tools?: readonly string[]): void {
  if (value === undefined) return;
  const approvals = optionsAt(value, path, [...LISTS, "otherwise"]);
  for (const name of LISTS) {
    const where = `${path}.${name}`;
    const list = approvals[name];
    if (list === undefined) continue;
    if (!Array.isArray(list)) {
      throw wrongOption(where, `${where} is ${shown(list)}, wanted an array of names or patterns`);
    }
    list.forEach((pattern: unknown, at) => checkPattern(pattern, `${where}[${at}]`, tools));
  }
  checkOneOf(approvals["otherwise"], `${path}.otherwise`, ["ask", "allow", "deny"]);
}

/** A pattern that fits no tool has no effect, and whoever wrote it meant it to have one. */
function checkPattern(pattern: unknown, path: string, tools?: readonly string[]): void {
  if (typeof pattern !== "string") {
    throw wrongOption(path, `${path} is ${shown(pattern)}, wanted the name of a tool or a pattern`);
  }
  if (tools === undefined || /^\*+$/.test(pattern)) return;
  if (tools.some((tool) => fitsPattern(pattern, tool))) return;
  throw wrongOption(
    path,
    `${path} is ${shown(pattern)}, which fits no tool${near(pattern, tools)}`,
  );
}

function checkTerminalTool(value: unknown, path: string, tools?: readonly string[]): void {
  if (value === undefined) return;
  const { name, maxReprompts } = optionsAt(value, path, ["name", "maxReprompts"]);
  if (typeof name !== "string" || tools?.includes(name) === false) {
    const instead = typeof name === "string" ? near(name, tools ?? []) : "";
    throw wrongOption(path, `${path} names ${shown(name)}, which is no tool${instead}`);
  }
  checkCount(maxReprompts, `${path}.maxReprompts`, 0);
}

function near(name: string, tools: readonly string[]): string {
  const [nearest] = nearNames(name, tools);
  if (nearest !== undefined) return `; did you mean ${nearest}?`;
  return tools.length === 0 ? "; the agent has none" : `; there are ${tools.join(", ")}`;
}
