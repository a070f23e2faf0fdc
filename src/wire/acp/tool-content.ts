import { jsonText } from "../../domain/json.ts";
import type { FileLocation } from "../../domain/tool-output.ts";
import type { ToolResultPart } from "../../domain/tool.ts";
import { absolutePath } from "./absolute-path.ts";
import { firstThatFit, fittedText } from "./fitted.ts";
import type { ToolCallFields, ToolContent } from "./session-update.ts";

/** What a tool gave, for people. A later update of a call replaces all of this, so it cannot come in pieces. */
export function resultContent(
  parts: readonly ToolResultPart[],
  isCommand: boolean,
  bytes: number,
): readonly ToolContent[] {
  const each = bytes / Math.min(Math.max(parts.length, 1), MOST_PARTS) - BLOCK_BYTES;
  const texts = parts.map((part) => fittedText(partText(part), each));
  return firstThatFit(
    texts.map((text) => textContent(isCommand && text !== "" ? fenced(text) : text)),
    bytes,
  );
}

const MOST_PARTS = 16;
/** Of the names around a text, and of a fence. */
const BLOCK_BYTES = 96;

export function textContent(text: string): ToolContent {
  return { type: "content", content: { type: "text", text } };
}

/** As it was written, and not as Markdown: between fences that are longer than any in it. */
function fenced(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(Math.min(longest + 1, MOST_FENCE));
  return `${fence}\n${text.replace(/\n$/, "")}\n${fence}`;
}

const MOST_FENCE = 32;

export function shownLocations(
  locations: readonly FileLocation[],
  workspace: string | undefined,
  bytes: number,
): Pick<ToolCallFields, "locations"> {
  if (locations.length === 0) return {};
  const placed = locations.map((one) => ({ ...one, path: absolutePath(one.path, workspace) }));
  return { locations: firstThatFit(placed, bytes) };
}

export function rawOutput(parts: readonly ToolResultPart[]): unknown {
  const values = parts.map(partValue);
  return values.length === 1 ? values[0] : values;
}

export function partText(part: ToolResultPart): string {
  return part.type === "text" ? part.text : jsonText(partValue(part));
}

function partValue(part: ToolResultPart): unknown {
  switch (part.type) {
    case "text":
      return part.text;
    case "json":
      return part.value;
    case "unknown":
      return part.raw;
  }
}
