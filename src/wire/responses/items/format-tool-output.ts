import type { ToolResultPart } from "../../../domain/tools/tool-call.ts";
import { toCanonicalJson } from "../../../data/canonical-json.ts";

/** A tool's result as one text: each part on its own line. */
export function formatToolOutput(parts: readonly ToolResultPart[]): string {
  return parts.map(formatOutputPart).join("\n");
}

export function formatOutputPart(part: ToolResultPart): string {
  switch (part.type) {
    case "text":
      return part.text;
    case "json":
      return toCanonicalJson(part.value);
    case "unknown":
      return toCanonicalJson(part.raw);
    default:
      part satisfies never;
      return "";
  }
}
