import { isObject, toJsonText } from "../../../data/json.ts";
import { cleanLine } from "../../../text/clean-text.ts";
import { MCP_LIMITS } from "../mcp-limits.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";

/** The result of a tool call for the model: a string, or a value to be sent as JSON. Undefined if there is none. */
export interface ResultOutput {
  readonly output: unknown;
  readonly isError: boolean;
  /** The server's `structuredContent`, in addition to the text. */
  readonly structured?: unknown;
}

/** Converts a `tools/call` result for the model. At most 1000 content items are used. */
export function readResultOutput(result: unknown): ResultOutput {
  const {
    content,
    structuredContent: structured,
    isError,
    toolResult,
  } = isObject(result) ? result : {};
  const items: readonly unknown[] = Array.isArray(content) ? content : [];
  const texts = items.slice(0, MCP_LIMITS.contentItems).map(formatItem);
  const omitted = items.length - texts.length;
  if (omitted > 0) texts.push(`[${omitted} more content items were omitted]`);
  const hasText = items.some((item) => isObject(item) && item["type"] === "text");
  const value = structured ?? toolResult;
  const flags = { isError: isError === true, ...omitUndefined({ structured }) };
  if (texts.length === 0) return { output: value, ...flags };
  // By the protocol, the text already contains the structured value.
  if (value !== undefined && !hasText) texts.push(toJsonText(value));
  return { output: texts.join("\n"), ...flags };
}

/** Content which cannot be sent as text is described instead. */
function formatItem(item: unknown): string {
  if (!isObject(item)) return formatUnknownItem(item);
  const { type, text, mimeType, data, resource } = item;
  switch (type) {
    case "text":
      return typeof text === "string" ? text : formatUnknownItem(item);
    case "image":
    case "audio":
      return formatFacts([type, mimeType, formatBase64Size(data), "not shown"]);
    case "resource_link":
      return formatFacts([
        "link",
        item["name"],
        item["uri"],
        mimeType,
        formatBytes(item["size"]),
        item["description"],
      ]);
    case "resource":
      return isObject(resource) ? formatResource(resource) : formatUnknownItem(item);
    default:
      return formatUnknownItem(item);
  }
}

function formatResource({
  uri,
  mimeType,
  text,
  blob,
}: {
  readonly [key: string]: unknown;
}): string {
  if (typeof text === "string") return `${formatFacts(["resource", uri, mimeType])}\n${text}`;
  return formatFacts(["resource", uri, mimeType, formatBase64Size(blob), "not shown"]);
}

function formatFacts(facts: readonly unknown[]): string {
  const words = facts.filter((fact): fact is string => typeof fact === "string" && fact !== "");
  return `[${words.map((word) => cleanLine(word, 500)).join(", ")}]`;
}

function formatBase64Size(data: unknown): string | undefined {
  return typeof data === "string" ? formatBytes(Math.floor((data.length * 3) / 4)) : undefined;
}

function formatBytes(size: unknown): string | undefined {
  return typeof size === "number" ? `${size} bytes` : undefined;
}

function formatUnknownItem(item: unknown): string {
  const text = toJsonText(item);
  return `[content of an unknown type: ${cleanLine(text, MAX_UNKNOWN_LENGTH)}]`;
}

const MAX_UNKNOWN_LENGTH = 1000;
