import { isObject } from "../../../data/json.ts";
import { checkHarnessArn } from "../check-options.ts";
import { readHarness } from "../control/control-response.ts";
import type { WireRequest } from "../wire-request.ts";
import type { HarnessTool } from "./harness-request.ts";

/** The tools of a deployed harness, from a GetHarness response. */
export interface DeployedTools {
  readonly tools: readonly HarnessTool[];
  readonly allowedTools: readonly string[];
}

/** Encodes GetHarness. Default version: the latest. */
export function encodeGetHarness(harnessId: string, version?: string): WireRequest {
  return {
    method: "GET",
    path: `/harnesses/${encodeURIComponent(harnessId)}`,
    query: version === undefined ? {} : { harnessVersion: version },
    headers: { accept: "application/json" },
  };
}

export function encodeGetEndpoint(harnessId: string, endpoint: string): WireRequest {
  const path = `/harnesses/${encodeURIComponent(harnessId)}/endpoints/${encodeURIComponent(endpoint)}`;
  return { method: "GET", path, query: {}, headers: { accept: "application/json" } };
}

export function parseHarnessId(arn: string): string {
  return checkHarnessArn("harnessArn", arn).replace(/^.*\//, "");
}

export function readDeployedTools(body: string): DeployedTools {
  const { tools, allowedTools } = readHarness(body, "GetHarness").raw;
  return {
    tools: Array.isArray(tools) ? tools.filter(isTool) : [],
    allowedTools: Array.isArray(allowedTools)
      ? allowedTools.filter((entry) => typeof entry === "string")
      : [],
  };
}

function isTool(value: unknown): value is HarnessTool {
  return isObject(value) && typeof value["type"] === "string";
}

interface ToolSettings {
  readonly tools: readonly HarnessTool[];
  readonly allowedTools: readonly string[];
}

/**
 * Adds tools to the deployed tools. An invocation with any tools replaces all deployed tools, so a request which adds
 * one tool must send the deployed tools too. An added tool replaces a deployed tool of the same name. A restricted list
 * of allowed tools is extended by the added tools.
 */
export function mergeTools(
  deployed: ToolSettings,
  addedTools: readonly HarnessTool[],
): ToolSettings {
  const names = new Set(addedTools.flatMap(({ name }) => name ?? []));
  const remainingTools = deployed.tools.filter(
    ({ name }) => name === undefined || !names.has(name),
  );
  const allowed = deployed.allowedTools;
  const missing = [...names].filter((name) => !allowed.includes(name));
  return {
    tools: [...remainingTools, ...addedTools],
    // An empty list and `*` allow every tool.
    allowedTools:
      allowed.length === 0 || allowed.includes("*") ? allowed : [...allowed, ...missing],
  };
}

/**
 * Returns the requested tools which are already allowed: a narrower request never adds permissions. If none remains,
 * the result is the name of a nonexistent tool, because an empty list would allow every tool.
 */
export function narrowTools(
  allowed: readonly string[],
  requested: readonly string[],
): readonly string[] {
  const isOpen = allowed.length === 0 || allowed.includes("*");
  const isAllowed = (name: string): boolean =>
    isOpen || allowed.some((entry) => entry === name || name.startsWith(`${entry}/`));
  const allowedNames = requested.filter(isAllowed);
  return allowedNames.length === 0 ? [NO_TOOL] : allowedNames;
}

const NO_TOOL = "@none/none";
