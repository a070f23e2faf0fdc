import { jsonText } from "../../domain/json.ts";
import type { ToolResult, ToolResultPart } from "../../domain/tool.ts";

/** A result for an API that takes text. Where it has no place for errors, the text says that it is one. */
export function resultText({ parts, isError }: ToolResult): string {
  const text = parts.map(partText).join("\n");
  const said = text.trim() === "" ? NO_OUTPUT : text.toWellFormed();
  return isError ? `Error: ${said}` : said;
}

export function partText(part: ToolResultPart): string {
  switch (part.type) {
    case "text":
      return part.text;
    case "json":
      return jsonText(part.value);
    case "unknown":
      return jsonText(part.raw);
    default:
      return part satisfies never;
  }
}

const NO_OUTPUT = "(no output)";
