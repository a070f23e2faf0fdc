import { isObject, jsonText } from "../../domain/json.ts";
import { cleanLine } from "./clean-text.ts";
import { MCP_LIMITS } from "./limits.ts";

/** What a call came to, for the model: text, or a value that is its JSON; undefined when there is none. */
export interface ResultOutput {
  readonly output: unknown;
  readonly isError: boolean;
  /** What the server gave beside the text, for programs. */
  readonly structured?: unknown;
}

export function resultOutput(result: unknown): ResultOutput {
  const {
    content,
    structuredContent: structured,
    isError,
    toolResult,
  } = isObject(result) ? result : {};
  const items: readonly unknown[] = Array.isArray(content) ? content : [];
  const shown = items.slice(0, MCP_LIMITS.contentItems).map(itemText);
  const left = items.length - shown.length;
  if (left > 0) shown.push(`[${left} more pieces of content were left out]`);
  const hasText = items.some((item) => isObject(item) && item["type"] === "text");
  const value = structured ?? toolResult;
  const given = { isError: isError === true, ...(structured !== undefined && { structured }) };
  if (shown.length === 0) return { output: value, ...given };
  // A server says in its text what is in the value, as the protocol wants it.
  if (value !== undefined && !hasText) shown.push(jsonText(value));
  return { output: shown.join("\n"), ...given };
}

/** What cannot be told as text is described: there is no place for it in a result. */
function itemText(item: unknown): string {
  if (!isObject(item)) return unknownItem(item);
  const { type, text, mimeType, data, resource } = item;
  switch (type) {
    case "text":
      return typeof text === "string" ? text : unknownItem(item);
    case "image":
    case "audio":
      return described([type, mimeType, sizeOfBase64(data), "not shown"]);
    case "resource_link":
      return described([
        "link",
        item["name"],
        item["uri"],
        mimeType,
        bytesOf(item["size"]),
        item["description"],
      ]);
    case "resource":
      return isObject(resource) ? resourceText(resource) : unknownItem(item);
    default:
      return unknownItem(item);
  }
}

function resourceText({ uri, mimeType, text, blob }: { readonly [key: string]: unknown }): string {
  if (typeof text === "string") return `${described(["resource", uri, mimeType])}\n${text}`;
  return described(["resource", uri, mimeType, sizeOfBase64(blob), "not shown"]);
}

function described(facts: readonly unknown[]): string {
  const words = facts.filter((fact): fact is string => typeof fact === "string" && fact !== "");
  return `[${words.map((word) => cleanLine(word, 500)).join(", ")}]`;
}

function sizeOfBase64(data: unknown): string | undefined {
  return typeof data === "string" ? bytesOf(Math.floor((data.length * 3) / 4)) : undefined;
}

function bytesOf(size: unknown): string | undefined {
  return typeof size === "number" ? `${size} bytes` : undefined;
}

function unknownItem(item: unknown): string {
  const text = jsonText(item);
  return `[content of a kind that Spanline does not know: ${cleanLine(text, MAX_UNKNOWN)}]`;
}

const MAX_UNKNOWN = 1000;
