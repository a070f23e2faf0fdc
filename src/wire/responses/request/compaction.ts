import { createImageBlock } from "../../../domain/model/image-block.ts";
import { isObject, toJsonText, parseJson } from "../../../data/json.ts";
import { JsonBudget } from "../../../data/json-budget.ts";
import type { ModelBlock, ModelMessage } from "../../../domain/model/model-request.ts";
import { createToolCall, type ToolResultPart } from "../../../domain/tools/tool-call.ts";
import {
  type Fields,
  checkNestedJson,
  readJson,
  readList,
  readObject,
  readString,
} from "./body-fields.ts";
import { createFieldError, createRequestError } from "./request-error.ts";

/** The content of a compaction item. */
export interface PackedConversation {
  readonly instructions: string | null;
  readonly messages: readonly ModelMessage[];
}

/**
 * Packs a conversation into one opaque string. The specification names this field `encrypted_content`; the string is
 * encoded but not encrypted, because only the caller who sent the conversation receives it. Throws `too_large` for a
 * conversation which `unpackConversation` would refuse.
 */
export function packConversation({ instructions, messages }: PackedConversation): string {
  const json = toJsonText({ instructions, messages });
  checkCanBeUnpacked(json, messages);
  const bytes = new TextEncoder().encode(json);
  let binary = "";
  // In pieces, because the number of arguments of a function call is limited.
  for (let start = 0; start < bytes.length; start += CHUNK_CHARACTERS)
    binary += String.fromCharCode(...bytes.subarray(start, start + CHUNK_CHARACTERS));
  return `${FORMAT_PREFIX}${btoa(binary)}`;
}

function checkCanBeUnpacked(json: string, messages: readonly ModelMessage[]): void {
  const budget = new JsonBudget();
  const inputTexts = messages
    .flatMap(({ blocks }) => blocks)
    .flatMap((block) => (block.type === "tool-call" ? [block.toolCall.inputText] : []));
  for (const text of [json, ...inputTexts]) {
    const limit = budget.spend(text);
    if (limit !== undefined)
      throw createRequestError(
        `The conversation exceeds the limit of ${limit}, so it cannot be compacted`,
        { param: "input", code: "too_large" },
      );
  }
}

/** Unpacks a conversation. `budget` is the JSON budget of the request containing the text. */
export function unpackConversation(
  text: string,
  path: string,
  budget = new JsonBudget(),
): PackedConversation {
  const unknown = () =>
    createFieldError(
      path,
      "was not created by this server; send the output of /responses/compact",
      "invalid_compaction",
    );
  if (!text.startsWith(FORMAT_PREFIX)) throw unknown();
  const json = decodeText(text.slice(FORMAT_PREFIX.length));
  if (json === null) throw unknown();
  checkNestedJson(json, path, budget);
  const parsed = parseJson(json);
  if (!parsed.ok) throw unknown();
  const { instructions, messages } = readObject(parsed.value, path);
  return {
    instructions: typeof instructions === "string" ? instructions : null,
    messages: readList(messages, path, MAX_ENTRIES).map((message) =>
      readMessage(readObject(message, path), path, budget),
    ),
  };
}

function decodeText(base64: string): string | null {
  try {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

function readMessage({ role, blocks }: Fields, path: string, budget: JsonBudget): ModelMessage {
  return {
    role: role === "assistant" ? "assistant" : "user",
    blocks: readList(blocks, path, MAX_ENTRIES).map((block) =>
      readBlock(readObject(block, path), path, budget),
    ),
  };
}

function readBlock(block: Fields, path: string, budget: JsonBudget): ModelBlock {
  const text = (name: string, from: Fields = block): string =>
    readString(from[name], path, MAX_TEXT_LENGTH);
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
    case "tool-call": {
      const call = readObject(block["toolCall"], path);
      const runBy = call["runBy"] === "server" ? "server" : "client";
      const facts = {
        id: text("id", call),
        name: text("name", call),
        inputText: text("inputText", call),
      };
      checkNestedJson(facts.inputText, path, budget);
      return { type: "tool-call", toolCall: createToolCall({ ...facts, runBy }) };
    }
    case "tool-result": {
      const result = readObject(block["result"], path);
      const parts = readList(result["parts"], path, MAX_ENTRIES).map((part) =>
        readResultPart(part, path),
      );
      const isError = result["isError"] === true;
      return {
        type: "tool-result",
        result: { toolCallId: text("toolCallId", result), parts, isError },
      };
    }
    case "image":
      return createImageBlock(text("mediaType"), text("base64"));
    default:
      throw createFieldError(
        path,
        "has an unknown block; compact the conversation again",
        "invalid_compaction",
      );
  }
}

function readResultPart(part: unknown, path: string): ToolResultPart {
  if (isObject(part) && part["type"] === "json")
    return { type: "json", value: readJson(part["value"] ?? null, path) };
  if (isObject(part) && part["type"] === "unknown")
    return { type: "unknown", raw: readJson(part["raw"] ?? null, path) };
  return { type: "text", text: readString(readObject(part, path)["text"], path, MAX_TEXT_LENGTH) };
}

const FORMAT_PREFIX = "spanline1.";
const CHUNK_CHARACTERS = 8192;
const MAX_ENTRIES = 100_000;
const MAX_TEXT_LENGTH = 33_554_432;
