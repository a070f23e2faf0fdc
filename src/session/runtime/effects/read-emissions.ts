import { isObject, type JsonObject } from "../../../data/json.ts";
import { readEmittedArtifact } from "../../../domain/outputs/read-artifact.ts";
import { readHandoffRequest } from "../../../domain/outputs/handoff.ts";
import { readWatchRequest } from "../../../domain/outputs/file-watch.ts";
import { normalizePlan } from "../../../domain/outputs/harn-plan.ts";
import { readLogReport, readProgressReport } from "../../../domain/outputs/progress-report.ts";
import type { ToolEmission } from "../../../domain/tools/tool-output.ts";
import { formatValue } from "../../../text/format-value.ts";

interface ReadEmissions {
  /** Absent if the tool emits nothing. */
  readonly emissions?: readonly ToolEmission[];
  /** Why an emission is not valid. Nothing is emitted then. */
  readonly problem?: string;
}

/** Emissions per tool call. */
const MAX_EMISSIONS = 16;

/** Validates the emissions of a tool, because tools are third-party code. */
export function readEmissions(value: unknown): ReadEmissions {
  if (value === undefined) return {};
  if (!Array.isArray(value) || value.length > MAX_EMISSIONS)
    return {
      problem: `emissions is ${formatValue(value)}: expected a list of at most ${MAX_EMISSIONS} emissions`,
    };
  const emissions: ToolEmission[] = [];
  for (const item of value) {
    const emission = readEmission(item);
    if (typeof emission === "string") return { problem: emission };
    emissions.push(emission);
  }
  return emissions.length === 0 ? {} : { emissions };
}

/** Returns the problem as a string. */
function readEmission(value: unknown): ToolEmission | string {
  const fields = isObject(value) ? value : {};
  switch (fields["type"]) {
    case "handoff": {
      const handoff = readHandoffRequest(fields["handoff"]);
      return handoff.ok ? { type: "handoff", handoff: handoff.request } : handoff.problem;
    }
    case "artifact": {
      const artifact = readEmittedArtifact(fields["artifact"]);
      return artifact.ok ? { type: "artifact", artifact: artifact.artifact } : artifact.problem;
    }
    case "plan": {
      const plan = fields["plan"];
      const tool = isJsonObject(plan) ? plan["tool"] : undefined;
      return isJsonObject(plan) && typeof tool === "string"
        ? { type: "plan", plan: normalizePlan(tool.slice(0, MAX_TOOL_NAME), plan) }
        : `plan is ${formatValue(plan)}: expected a plan with the name of its tool`;
    }
    case "progress": {
      const progress = readProgressReport(fields["progress"]);
      return typeof progress === "string" ? progress : { type: "progress", progress };
    }
    case "log": {
      const log = readLogReport(fields["log"]);
      return typeof log === "string" ? log : { type: "log", log };
    }
    case "watch":
    case "unwatch":
      return readWatchEmission(fields);
    default:
      return `the emission ${formatValue(fields["type"])} is not known`;
  }
}

const MAX_TOOL_NAME = 64;

function isJsonObject(value: unknown): value is JsonObject {
  return isObject(value);
}

/** The id is part of reminders for the model. */
const SUBSCRIPTION_ID = /^[\w.:-]{1,200}$/;

function readWatchEmission({
  type,
  subscriptionId,
  watch,
}: {
  readonly [name: string]: unknown;
}): ToolEmission | string {
  if (typeof subscriptionId !== "string" || !SUBSCRIPTION_ID.test(subscriptionId))
    return `subscriptionId is ${formatValue(subscriptionId)}: expected 1 to 200 letters, digits, "_", "-", "." and ":"`;
  if (type === "unwatch") return { type: "unwatch", subscriptionId };
  const request = readWatchRequest(watch);
  return typeof request === "string" ? request : { type: "watch", subscriptionId, watch: request };
}
