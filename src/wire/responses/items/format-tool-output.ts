import type { ToolResultPart } from "../../../domain/tools/tool-call.ts";
import { toCanonicalJson } from "../../../data/canonical-json.ts";

/** Formats a tool result as one string, one line per part. */
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
