import { isObject } from "../../data/json.ts";
import type { Fields } from "./state.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/** A full message from Strands for Python or TypeScript. */
export interface FullMessage {
  readonly role: "assistant" | "user";
  /** The id assigned by Strands. Undefined if absent. */
  readonly id: string | undefined;
  readonly blocks: readonly MessageBlock[];
  /** The text of all text blocks. Lone surrogates are replaced by U+FFFD, as in emitted text. */
  readonly text: string;
  readonly metadata: unknown;
}

export type MessageBlock =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "reasoning"; readonly reasoning: Fields }
  | { readonly kind: "call"; readonly toolCallId: string; readonly toolUse: Fields }
  | { readonly kind: "result"; readonly toolCallId: string; readonly toolResult: Fields }
  | { readonly kind: "citation"; readonly citation: unknown }
  | { readonly kind: "unknown"; readonly name: string; readonly raw: unknown };

export function isMessage(value: unknown): value is Fields {
  if (!isObject(value) || !("content" in value)) return false;
  return value["role"] === "assistant" || value["role"] === "user";
}

export function readMessage(fields: Fields): FullMessage {
  const { role, content, metadata, tracking_id, trackingId } = fields;
  const id = tracking_id ?? trackingId;
  const blocks = (Array.isArray(content) ? content : [content]).flatMap(readBlock);
  let text = "";
  for (const block of blocks) if (block.kind === "text") text += block.text;
  return {
    role: role === "user" ? "user" : "assistant",
    id: typeof id === "string" ? id : undefined,
    blocks,
    text: text.toWellFormed(),
    metadata,
  };
}

function readBlock(raw: unknown): MessageBlock[] {
  if (typeof raw === "string") return [{ kind: "text", text: raw }];
  if (!isObject(raw)) return [];
  return Object.keys(raw).flatMap((name) => readMember(name, raw[name]));
}

function readMember(name: string, body: unknown): MessageBlock[] {
  if (body === null || body === undefined) return [];
  if (name === "text" && typeof body === "string") return [{ kind: "text", text: body }];
  if (!isObject(body)) return [{ kind: "unknown", name, raw: body }];
  switch (name) {
    case "toolUse":
      return [{ kind: "call", toolCallId: readToolCallId(body), toolUse: body }];
    case "toolResult":
      return [{ kind: "result", toolCallId: readToolCallId(body), toolResult: body }];
    case "reasoningContent":
    case "reasoning":
      return [{ kind: "reasoning", reasoning: readReasoning(body) }];
    case "citationsContent":
    case "citations":
      return [...readTextBlocks(body["content"]), ...readCitationBlocks(body["citations"])];
    default:
      return [{ kind: "unknown", name, raw: body }];
  }
}

function readToolCallId(body: Fields): string {
  return typeof body["toolUseId"] === "string" ? body["toolUseId"] : "";
}

/** Reads reasoning in the form of a delta. The Python SDK nests the text of a full block in `reasoningText`. */
function readReasoning(body: Fields): Fields {
  const { reasoningText, redactedContent } = body;
  const { text, signature } = isObject(reasoningText) ? reasoningText : body;
  return {
    ...omitUndefined({ text, signature, redactedContent }),
  };
}

function readTextBlocks(content: unknown): MessageBlock[] {
  if (!Array.isArray(content)) return [];
  return content.flatMap((part: unknown): MessageBlock[] => {
    const text = isObject(part) ? part["text"] : undefined;
    return typeof text === "string" ? [{ kind: "text", text }] : [];
  });
}

function readCitationBlocks(citations: unknown): MessageBlock[] {
  if (!Array.isArray(citations)) return [];
  return citations.map((citation: unknown) => ({ kind: "citation", citation }));
}
