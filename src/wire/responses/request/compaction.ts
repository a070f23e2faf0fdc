import { imageBlock } from "../../../domain/image-block.ts";
import { isObject, jsonText, parseJson } from "../../../domain/json.ts";
import type { ModelBlock, ModelMessage } from "../../../domain/model-request.ts";
import { toolCall, type ToolResultPart } from "../../../domain/tool.ts";
import { type Fields, jsonAt, listAt, objectAt, textAt } from "./fields.ts";
import { wrongField } from "./refusal.ts";

/** A conversation as one item holds it. */
export interface PackedConversation {
  readonly instructions: string | null;
  readonly messages: readonly ModelMessage[];
}

/**
 * A conversation as one opaque text. The specification's word for it is `encrypted_content`; this one is packed and not
 * encrypted, since it goes to nobody but the caller who sent it.
 */
export function packConversation({ instructions, messages }: PackedConversation): string {
  const bytes = new TextEncoder().encode(jsonText({ instructions, messages }));
  let binary = "";
  // In pieces: a call takes only so many arguments.
  for (let start = 0; start < bytes.length; start += PIECE)
    binary += String.fromCharCode(...bytes.subarray(start, start + PIECE));
  return `${MARK}${btoa(binary)}`;
}

export function unpackConversation(text: string, path: string): PackedConversation {
  const unknown = () =>
    wrongField(path, "was not made here; send what /responses/compact gave", "invalid_compaction");
  if (!text.startsWith(MARK)) throw unknown();
  const json = textIn(text.slice(MARK.length));
  const parsed = json === null ? null : parseJson(json);
  if (parsed === null || !parsed.ok) throw unknown();
  const { instructions, messages } = objectAt(parsed.value, path);
  return {
    instructions: typeof instructions === "string" ? instructions : null,
    messages: listAt(messages, path, MOST).map((message) =>
      readMessage(objectAt(message, path), path),
    ),
  };
}

function textIn(base64: string): string | null {
  try {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

function readMessage({ role, blocks }: Fields, path: string): ModelMessage {
  return {
    role: role === "assistant" ? "assistant" : "user",
    blocks: listAt(blocks, path, MOST).map((block) => readBlock(objectAt(block, path), path)),
  };
}

function readBlock(block: Fields, path: string): ModelBlock {
  const text = (name: string, from: Fields = block): string => textAt(from[name], path, LONGEST);
  switch (block["type"]) {
    case "text":
      return { type: "text", text: text("text") };
    case "reasoning":
      return {
        type: "reasoning",
        text: text("text"),
        ...("signature" in block && { signature: text("signature") }),
        ...("redacted" in block && { redacted: text("redacted") }),
      };
    case "call": {
      const call = objectAt(block["call"], path);
      const runBy = call["runBy"] === "server" ? "server" : "client";
      const facts = {
        id: text("id", call),
        name: text("name", call),
        inputText: text("inputText", call),
      };
      return { type: "call", call: toolCall({ ...facts, runBy }) };
    }
    case "result": {
      const result = objectAt(block["result"], path);
      const parts = listAt(result["parts"], path, MOST).map((part) => readResultPart(part, path));
      const isError = result["isError"] === true;
      return { type: "result", result: { callId: text("callId", result), parts, isError } };
    }
    case "image":
      return imageBlock(text("mediaType"), text("base64"));
    default:
      throw wrongField(path, "holds something unknown; compact again", "invalid_compaction");
  }
}

function readResultPart(part: unknown, path: string): ToolResultPart {
  if (isObject(part) && part["type"] === "json")
    return { type: "json", value: jsonAt(part["value"] ?? null, path) };
  if (isObject(part) && part["type"] === "unknown")
    return { type: "unknown", raw: jsonAt(part["raw"] ?? null, path) };
  return { type: "text", text: textAt(objectAt(part, path)["text"], path, LONGEST) };
}

const MARK = "spanline1.";
const PIECE = 8192;
const MOST = 100_000;
const LONGEST = 33_554_432;
