import type { ToolResultPart } from "../../domain/tool.ts";
import { canonicalJson } from "./canonical-json.ts";

/** A tool's result as one text: each part on its own line. */
export function outputText(parts: readonly ToolResultPart[]): string {
  return parts.map(partText).join("\n");
}

export function partText(part: ToolResultPart): string {
  switch (part.type) {
    case "text":
      return part.text;
    case "json":
      return canonicalJson(part.value);
    case "unknown":
      return canonicalJson(part.raw);
    default:
      part satisfies never;
      return "";
  }
}
