import { SpanlineError } from "../../../domain/errors.ts";
import { IMAGE_TYPES, createImageBlock } from "../../../domain/model/image-block.ts";
import { isObject } from "../../../data/json.ts";
import type { SubmittedPart } from "../../../domain/session-command.ts";
import { type DecodeResult, accept, rejectParams } from "../json-fields.ts";
import { formatLink, readLastSegment } from "./format-link.ts";

/** What blocks of a prompt are taken, as `initialize` offers it. Text and links every agent takes. */
export const PROMPT_CAPABILITIES = { image: true, audio: false, embeddedContext: true } as const;

/** The blocks of a prompt as parts. What we did not offer to take is refused, not left out. */
export function decodePrompt(prompt: unknown): DecodeResult<readonly SubmittedPart[]> {
  if (!Array.isArray(prompt)) return rejectParams('"prompt" is not an array');
  if (prompt.length === 0) return rejectParams('"prompt" is empty');
  const parts: SubmittedPart[] = [];
  for (const [index, block] of prompt.entries()) {
    try {
      const found = isObject(block) ? decodeBlock(block) : undefined;
      if (found === undefined)
        return rejectParams(`"prompt" has a block ${index} ${describeUnsupportedBlock(block)}`);
      parts.push(...found);
    } catch (error) {
      if (!(error instanceof SpanlineError)) throw error;
      return rejectParams(`"prompt" has a block ${index} that cannot be taken: ${error.message}`);
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

/** Text stands in the prompt with where it is from; of bytes only a picture can be shown. */
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
  return [{ type: "text", text: `A picture, ${readLastSegment(uri)} (${uri}):` }, picture];
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
  return `${found}; wanted text, image, resource_link or resource, each with its fields`;
}
