import { SpanlineError } from "../../domain/errors.ts";
import { IMAGE_TYPES, imageBlock } from "../../domain/image-block.ts";
import { isObject } from "../../domain/json.ts";
import type { GivenPart } from "../../domain/session-command.ts";
import { type Decoded, decoded, refusedParams } from "./decoded.ts";
import { linkText, nameIn } from "./link-text.ts";

/** What blocks of a prompt are taken, as `initialize` offers it. Text and links every agent takes. */
export const PROMPT_CAPABILITIES = { image: true, audio: false, embeddedContext: true } as const;

/** The blocks of a prompt as parts. What we did not offer to take is refused, not left out. */
export function decodePrompt(prompt: unknown): Decoded<readonly GivenPart[]> {
  if (!Array.isArray(prompt)) return refusedParams('"prompt" is not an array');
  if (prompt.length === 0) return refusedParams('"prompt" is empty');
  const parts: GivenPart[] = [];
  for (const [index, block] of prompt.entries()) {
    try {
      const found = isObject(block) ? partsOf(block) : undefined;
      if (found === undefined)
        return refusedParams(`"prompt" has a block ${index} ${wanted(block)}`);
      parts.push(...found);
    } catch (error) {
      if (!(error instanceof SpanlineError)) throw error;
      return refusedParams(`"prompt" has a block ${index} that cannot be taken: ${error.message}`);
    }
  }
  return decoded(parts);
}

type Fields = { readonly [key: string]: unknown };

function partsOf(block: Fields): readonly GivenPart[] | undefined {
  switch (block["type"]) {
    case "text":
      return textPart(textIn(block, "text"));
    case "image":
      return pictureParts(block, textIn(block, "data"));
    case "resource_link":
      return textPart(linkOf(block));
    case "resource":
      return isObject(block["resource"]) ? resourceParts(block["resource"]) : undefined;
    default:
      return undefined;
  }
}

function textPart(text: string | undefined): readonly GivenPart[] | undefined {
  return text === undefined ? undefined : [{ type: "text", text }];
}

function linkOf(block: Fields): string | undefined {
  const uri = textIn(block, "uri");
  return uri && linkText({ uri, name: textIn(block, "title") ?? textIn(block, "name") });
}

/** Text stands in the prompt with where it is from; of bytes only a picture can be shown. */
function resourceParts(resource: Fields): readonly GivenPart[] | undefined {
  const text = textIn(resource, "text");
  const blob = textIn(resource, "blob");
  if (text !== undefined) return textPart(embedded(resource, text));
  if (blob === undefined) return undefined;
  const type = textIn(resource, "mimeType") ?? "";
  if (IMAGE_TYPES.some((known) => known === type)) return pictureParts(resource, blob);
  const said = `(${type === "" ? "Bytes" : type}, ${bytesIn(blob)} bytes. They cannot be shown here.)`;
  return textPart(embedded(resource, said));
}

function embedded(resource: Fields, text: string): string {
  const uri = textIn(resource, "uri") ?? "";
  return `<resource uri="${attribute(uri)}" name="${attribute(nameIn(uri))}">\n${text}\n</resource>`;
}

function pictureParts(block: Fields, data: string | undefined): readonly GivenPart[] | undefined {
  if (data === undefined) return undefined;
  const picture = imageBlock(textIn(block, "mimeType") ?? "", data);
  const uri = textIn(block, "uri") ?? "";
  if (uri === "") return [picture];
  return [{ type: "text", text: `A picture, ${nameIn(uri)} (${uri}):` }, picture];
}

function attribute(text: string): string {
  return text.replaceAll('"', "%22").replaceAll("\n", "%0A");
}

function bytesIn(base64: string): number {
  return Math.floor((base64.replace(/=+$/, "").length * 3) / 4);
}

function textIn(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  return typeof value === "string" ? value : undefined;
}

function wanted(block: unknown): string {
  const type = isObject(block) && typeof block["type"] === "string" ? block["type"] : "";
  const found = type === "" ? "without a type" : `of type "${type.slice(0, 40)}"`;
  return `${found}; wanted text, image, resource_link or resource, each with its fields`;
}
