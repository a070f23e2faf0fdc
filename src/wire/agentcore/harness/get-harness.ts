import { isObject } from "../../../data/json.ts";
import { readHarness } from "../control/control-response.ts";
import type { HarnessTool } from "./harness-request.ts";
import { checkHarnessArn } from "../check-identifiers.ts";
import type { WireRequest } from "../wire-request.ts";

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
