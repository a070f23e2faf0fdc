import { isObject } from "../../../data/json.ts";
import { readEmittedArtifact } from "../../../domain/artifact/read-artifact.ts";
import { readHandoffRequest } from "../../../domain/handoff.ts";
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
    return { problem: `emissions is ${formatValue(value)}: expected at most ${MAX_EMISSIONS}` };
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
    default:
      return `the emission ${formatValue(fields["type"])} is not known`;
  }
}
