import { toJsonText } from "../../data/json.ts";
import type { ToolResult, ToolResultPart } from "../../domain/tools/tool-call.ts";

/**
 * Formats a tool result for an API which accepts only text. The prefix `Error:` marks an error, for APIs without a
 * status.
 */
export function formatResultText({ parts, isError }: ToolResult): string {
  const text = parts.map(formatResultPart).join("\n");
  const output = text.trim() === "" ? NO_OUTPUT : text.toWellFormed();
  return isError ? `Error: ${output}` : output;
}

export function formatResultPart(part: ToolResultPart): string {
  switch (part.type) {
    case "text":
      return part.text;
    case "json":
      return toJsonText(part.value);
    case "unknown":
      return toJsonText(part.raw);
    default:
      return part satisfies never;
  }
}

const NO_OUTPUT = "(no output)";
