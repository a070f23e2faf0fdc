import { isObject } from "../../../data/json.ts";
import { checkHarnessArn } from "../check-options.ts";
import { readHarness } from "../control/control-response.ts";
import type { WireRequest } from "../wire-request.ts";
import type { HarnessTool } from "./harness-request.ts";

/** The tools that a deployed harness has, as GetHarness tells them. */
export interface DeployedTools {
  readonly tools: readonly HarnessTool[];
  readonly allowedTools: readonly string[];
}

/** GetHarness. A version is what an endpoint serves; without one it is the newest. */
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
 * The deployed tools with ours added. An invocation that names any tools replaces all of the deployed ones, so whoever
 * adds one has to send the rest as well. Of two tools with one name, ours stands. A list of allowed tools that is not
 * open to all is widened by ours.
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
    // An empty list allows everything, as does a star.
    allowedTools:
      allowed.length === 0 || allowed.includes("*") ? allowed : [...allowed, ...missing],
  };
}

/**
 * Those of the `wanted` tools that are allowed anyway: nobody gets more by asking for less. An empty list would allow
 * everything, so that none is said with a name that no tool has.
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
