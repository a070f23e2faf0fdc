import { toJsonText } from "../../../../data/json.ts";
import type { FileLocation } from "../../../../domain/tools/tool-output.ts";
import type { ToolResultPart } from "../../../../domain/tools/tool-call.ts";
import { toAbsolutePath } from "../../absolute-path.ts";
import { takeFitting, fitText } from "../../fit-json.ts";
import type { ToolCallFields, ToolContent } from "../acp-session-update.ts";

/**
 * Encodes a tool result for display. Each update of a tool call replaces the previous content, so the result must fit
 * into a single update.
 */
export function encodeResultParts(
  parts: readonly ToolResultPart[],
  isCommand: boolean,
  bytes: number,
): readonly ToolContent[] {
  const each = bytes / Math.min(Math.max(parts.length, 1), MAX_PARTS) - BLOCK_BYTES;
  const texts = parts.map((part) => fitText(formatPart(part), each));
  return takeFitting(
    texts.map((text) => encodeTextContent(isCommand && text !== "" ? formatFenced(text) : text)),
    bytes,
  );
}

const MAX_PARTS = 16;
/** Bytes for the field names around a text and for the fence. */
const BLOCK_BYTES = 96;

export function encodeTextContent(text: string): ToolContent {
  return { type: "content", content: { type: "text", text } };
}

/**
 * Fences text, because clients render unfenced text as Markdown. The fence is longer than any backtick run in the text,
 * up to 32 characters.
 */
function formatFenced(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(Math.min(longest + 1, MAX_FENCE_LENGTH));
  return `${fence}\n${text.replace(/\n$/, "")}\n${fence}`;
}

const MAX_FENCE_LENGTH = 32;

export function encodeLocations(
  locations: readonly FileLocation[],
  workspace: string | undefined,
  bytes: number,
): Pick<ToolCallFields, "locations"> {
  if (locations.length === 0) return {};
  const absoluteLocations = locations.map((location) => ({
    ...location,
    path: toAbsolutePath(location.path, workspace),
  }));
  return { locations: takeFitting(absoluteLocations, bytes) };
}

export function encodeRawOutput(parts: readonly ToolResultPart[]): unknown {
  const values = parts.map(encodePart);
  return values.length === 1 ? values[0] : values;
}

export function formatPart(part: ToolResultPart): string {
  return part.type === "text" ? part.text : toJsonText(encodePart(part));
}

function encodePart(part: ToolResultPart): unknown {
  switch (part.type) {
    case "text":
      return part.text;
    case "json":
      return part.value;
    case "unknown":
      return part.raw;
  }
}
