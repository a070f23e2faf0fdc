import type { TextPart } from "../../domain/agent-event.ts";
import { isObject } from "../../domain/json.ts";
import { type Decoded, decoded, refusedParams } from "./decoded.ts";

/** The blocks of a prompt as parts. What we did not offer to take (pictures, sound, bytes) is refused, not left out. */
export function decodePrompt(prompt: unknown): Decoded<readonly TextPart[]> {
  if (!Array.isArray(prompt)) return refusedParams('"prompt" is not an array');
  if (prompt.length === 0) return refusedParams('"prompt" is empty');
  const parts: TextPart[] = [];
  for (const [index, block] of prompt.entries()) {
    const text = isObject(block) ? textOf(block) : undefined;
    if (text === undefined) return refusedParams(`"prompt" has a block ${index} ${wanted(block)}`);
    parts.push({ type: "text", text });
  }
  return decoded(parts);
}

type Fields = { readonly [key: string]: unknown };

function textOf(block: Fields): string | undefined {
  switch (block["type"]) {
    case "text":
      return textIn(block, "text");
    case "resource_link":
      return linkText(block);
    case "resource":
      return isObject(block["resource"]) ? resourceText(block["resource"]) : undefined;
    default:
      return undefined;
  }
}

/** A link goes to the agent as a link: what it points to may be the editor's own, and is not read here. */
function linkText(block: Fields): string | undefined {
  const uri = textIn(block, "uri");
  if (uri === undefined) return undefined;
  const name = textIn(block, "title") ?? textIn(block, "name");
  return name === undefined || name === "" ? uri : `[${name}](${uri})`;
}

function resourceText(resource: Fields): string | undefined {
  const text = textIn(resource, "text");
  if (text === undefined) return undefined;
  const uri = (textIn(resource, "uri") ?? "").replaceAll('"', "%22");
  return `<resource uri="${uri}">\n${text}\n</resource>`;
}

function textIn(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  return typeof value === "string" ? value : undefined;
}

function wanted(block: unknown): string {
  const type = isObject(block) && typeof block["type"] === "string" ? block["type"] : "";
  const found = type === "" ? "without a type" : `of type "${type.slice(0, 40)}"`;
  return `${found}; wanted text, resource_link, or resource with text, each with its fields`;
}
