import { isObject } from "../../../data/json.ts";
import { SpanlineError } from "../../../domain/errors.ts";
import { IMAGE_TYPES, createImageBlock } from "../../../domain/model/image-block.ts";
import type { SubmittedPart } from "../../../domain/session-command.ts";
import { accept, rejectParams, type DecodeResult } from "../json-fields.ts";

/** The block types of a prompt that `initialize` offers. Every agent accepts text and links. */
export const PROMPT_CAPABILITIES = { image: true, audio: false, embeddedContext: true } as const;

/** Decodes the blocks of a prompt. An unsupported block rejects the whole prompt; blocks are never dropped silently. */
export function decodePrompt(
  prompt: unknown,
  field = "prompt",
): DecodeResult<readonly SubmittedPart[]> {
  if (!Array.isArray(prompt)) return rejectParams(`"${field}" is not an array`);
  if (prompt.length === 0) return rejectParams(`"${field}" is empty`);
  const parts: SubmittedPart[] = [];
  for (const [index, block] of prompt.entries()) {
    try {
      const found = isObject(block) ? decodeBlock(block) : undefined;
      if (found === undefined)
        return rejectParams(
          `"${field}" has an unsupported block ${index} ${describeUnsupportedBlock(block)}`,
        );
      parts.push(...found);
    } catch (error) {
      if (!(error instanceof SpanlineError)) throw error;
      return rejectParams(`"${field}" has an invalid block ${index}: ${error.message}`);
    }
  }
  return accept(parts);
}

type Fields = { readonly [key: string]: unknown };

function decodeBlock(block: Fields): readonly SubmittedPart[] | undefined {
  switch (block["type"]) {
    case "text":
      return decodeText(readStringField(block, "text"));
    case "image":
      return decodeImage(block, readStringField(block, "data"));
    case "resource_link":
      return decodeText(decodeLink(block));
    case "resource":
      return isObject(block["resource"]) ? decodeResource(block["resource"]) : undefined;
    default:
      return undefined;
  }
}

function decodeText(text: string | undefined): readonly SubmittedPart[] | undefined {
  return text === undefined ? undefined : [{ type: "text", text }];
}

function decodeLink(block: Fields): string | undefined {
  const uri = readStringField(block, "uri");
  return (
    uri &&
    formatLink({ uri, name: readStringField(block, "title") ?? readStringField(block, "name") })
  );
}

/**
 * Decodes an embedded resource. Text becomes part of the prompt, with its URI. Bytes are passed on only if they are an
 * image, and described otherwise.
 */
function decodeResource(resource: Fields): readonly SubmittedPart[] | undefined {
  const text = readStringField(resource, "text");
  const blob = readStringField(resource, "blob");
  if (text !== undefined) return decodeText(formatEmbeddedText(resource, text));
  if (blob === undefined) return undefined;
  const type = readStringField(resource, "mimeType") ?? "";
  if (IMAGE_TYPES.some((known) => known === type)) return decodeImage(resource, blob);
  const embeddedText = `(${type === "" ? "Bytes" : type}, ${countBase64Bytes(blob)} bytes. They cannot be shown here.)`;
  return decodeText(formatEmbeddedText(resource, embeddedText));
}

function formatEmbeddedText(resource: Fields, text: string): string {
  const uri = readStringField(resource, "uri") ?? "";
  return `<resource uri="${escapeAttribute(uri)}" name="${escapeAttribute(readLastSegment(uri))}">\n${text}\n</resource>`;
}

function decodeImage(
  block: Fields,
  data: string | undefined,
): readonly SubmittedPart[] | undefined {
  if (data === undefined) return undefined;
  const picture = createImageBlock(readStringField(block, "mimeType") ?? "", data);
  const uri = readStringField(block, "uri") ?? "";
  if (uri === "") return [picture];
  return [{ type: "text", text: `Image ${readLastSegment(uri)} (${uri}):` }, picture];
}

function escapeAttribute(text: string): string {
  return text.replaceAll('"', "%22").replaceAll("\n", "%0A");
}

function countBase64Bytes(base64: string): number {
  return Math.floor((base64.replace(/=+$/, "").length * 3) / 4);
}

function readStringField(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  return typeof value === "string" ? value : undefined;
}

function describeUnsupportedBlock(block: unknown): string {
  const type = isObject(block) && typeof block["type"] === "string" ? block["type"] : "";
  const found = type === "" ? "without a type" : `of type "${type.slice(0, 40)}"`;
  return `${found}; expected text, image, resource_link or resource with the required fields`;
}

interface Link {
  readonly uri: string;
  readonly name?: string | undefined;
}

/**
 * Formats a link for the agent. Spanline never reads the target: a file is left to the agent's tools, a URL to its
 * browser, and an editor's own scheme cannot be read. The text after the link states which case applies.
 */
function formatLink({ uri, name = "" }: Link): string {
  const label = name.trim() === "" ? readLastSegment(uri) : name;
  return `[${toSingleLine(label).replaceAll("]", "\\]")}](${toSingleLine(uri)}) (${describeLink(uri)})`;
}

/** Returns the last path segment of a URI as a display name, or the whole URI if there is none. */
function readLastSegment(uri: string): string {
  const path = (parseUrl(uri)?.pathname ?? uri).replace(/\/+$/, "");
  const last = path.slice(path.lastIndexOf("/") + 1);
  return last === "" ? uri : decodePercent(last);
}

function describeLink(uri: string): string {
  const file = toFilePath(uri);
  if (file !== undefined)
    return `the file ${toSingleLine(file)}; its content is not in this message`;
  const { protocol } = parseUrl(uri) ?? { protocol: "" };
  return protocol === "http:" || protocol === "https:"
    ? "a URL; its content is not in this message"
    : "cannot be read from here; its content is not in this message";
}

/** Converts a `file:` URI to a path for tools. Undefined for other schemes and for files on another host. */
function toFilePath(uri: string): string | undefined {
  const { protocol, hostname, pathname } = parseUrl(uri) ?? {};
  if (protocol !== "file:" || pathname === undefined) return undefined;
  if (hostname !== "" && hostname !== "localhost") return undefined;
  const path = decodePercent(pathname);
  return /^\/[A-Za-z]:/.test(path) ? path.slice(1) : path;
}

function parseUrl(uri: string): URL | undefined {
  try {
    return new URL(uri);
  } catch {
    return undefined;
  }
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function toSingleLine(text: string): string {
  return text.replace(/\s*[\r\n]+\s*/g, " ");
}
