import { isObject, jsonText, type JsonValue } from "../../domain/json.ts";
import { gather } from "../../domain/kept-text.ts";
import type { ToolResultPart } from "../../domain/tool.ts";
import {
  appendContent,
  appendInput,
  appendParts,
  appendRedacted,
  contentBlock,
  slotAt,
} from "./blocks.ts";
import { ensureMessage } from "./messages.ts";
import {
  CONTENT_BLOCK_DELTA,
  JSON_PART,
  REASONING,
  TEXT_PART,
  TOOL_RESULT_METADATA,
  TOOL_USE_DELTA,
  type Fields,
} from "./schema.ts";
import {
  COST_OF_A_PIECE,
  diagnose,
  keepUnknown,
  keepUnknownFields,
  type ConverseState,
  type Out,
  type Slot,
} from "./state.ts";

export function foldDelta(state: ConverseState, fields: Fields, emit: Out): void {
  keepUnknownFields(state, CONTENT_BLOCK_DELTA, fields, emit);
  const { contentBlockIndex: index, delta } = fields;
  if (!isIndex(index)) {
    const message = `Content block index of type ${typeof index} is not a whole number from 0`;
    diagnose(state, "block_index_invalid", message, emit);
  }
  if (!isObject(delta)) return;
  for (const kind in delta) {
    const body = delta[kind];
    if (body === null || body === undefined) continue;
    if (state.message === null || state.message.closed) {
      const role = kind.startsWith("toolResult") ? "user" : "assistant";
      ensureMessage(state, { role, trails: true }, emit);
    }
    foldMember(state, slotAt(state, index), { kind, body }, emit);
  }
}

/** An absent index is normal for models that Strands reaches elsewhere than on Bedrock. */
function isIndex(index: unknown): boolean {
  if (index === undefined || index === null) return true;
  return typeof index === "number" && index >= 0 && Number.isInteger(index);
}

interface Member {
  readonly kind: string;
  readonly body: unknown;
}

function foldMember(state: ConverseState, slot: Slot, { kind, body }: Member, emit: Out): void {
  switch (kind) {
    case "text":
      if (typeof body !== "string") break;
      return appendContent(state, contentBlock(state, slot, "text", emit), body, emit);
    case "toolUse":
      return foldInput(state, slot, body, emit);
    case "reasoningContent":
      if (!isObject(body)) break;
      return foldReasoning(state, slot, body, emit);
    case "toolResult":
      return foldResultParts(state, slot, body, emit);
    case "toolResultMetadata":
      if (slot.result === null || !isObject(body) || typeof body["metadata"] !== "string") break;
      keepUnknownFields(state, TOOL_RESULT_METADATA, body, emit);
      state.characters += body["metadata"].length;
      gather(slot.result.metadata, body["metadata"]);
      return;
    default:
  }
  keepUnknown(state, { what: "delta", name: kind, raw: body }, emit);
}

/** Arguments come as fragments of JSON text; a provider that sends them parsed is understood too. */
function foldInput(state: ConverseState, slot: Slot, body: unknown, emit: Out): void {
  const input = isObject(body) ? body["input"] : undefined;
  if (isObject(body)) keepUnknownFields(state, TOOL_USE_DELTA, body, emit);
  if (input === undefined || input === null) return;
  if (slot.call === null) {
    // No call to give them to. A call made up from here would have neither id nor name.
    emit({ type: "unknown", what: "delta", name: "toolUse", raw: body });
    const message = "Tool arguments came at an index where no tool call is open";
    return diagnose(state, "tool_input_unmatched", message, emit);
  }
  appendInput(state, slot.call, typeof input === "string" ? input : jsonText(input), emit);
}

function foldReasoning(state: ConverseState, slot: Slot, body: Fields, emit: Out): void {
  const { text, signature, redactedContent } = body;
  keepUnknownFields(state, REASONING, body, emit);
  if (typeof text === "string") {
    appendContent(state, contentBlock(state, slot, "reasoning", emit), text, emit);
  }
  if (typeof signature === "string") {
    state.characters += signature.length;
    gather(contentBlock(state, slot, "reasoning", emit).signature, signature);
  }
  const base64 = asBase64(redactedContent);
  if (base64 !== undefined) {
    appendRedacted(state, contentBlock(state, slot, "redacted", emit), base64);
  } else if (redactedContent !== undefined && redactedContent !== null) {
    keepUnknown(state, { what: "delta", name: "redactedContent", raw: redactedContent }, emit);
  }
}

/** The wire has base64; what the AWS SDK hands out has bytes. */
function asBase64(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (!(value instanceof Uint8Array)) return undefined;
  return btoa(Array.from(value, (byte) => String.fromCharCode(byte)).join(""));
}

function foldResultParts(state: ConverseState, slot: Slot, body: unknown, emit: Out): void {
  if (slot.result === null) {
    emit({ type: "unknown", what: "delta", name: "toolResult", raw: body });
    const message = "Tool result content came at an index where no tool result is open";
    return diagnose(state, "tool_result_unmatched", message, emit);
  }
  const parts = (Array.isArray(body) ? body : [body]).map((raw) => partOf(state, raw, emit));
  for (const part of parts) state.characters += sizeOf(part) + COST_OF_A_PIECE;
  appendParts(slot.result, parts);
}

function partOf(state: ConverseState, raw: unknown, emit: Out): ToolResultPart {
  if (typeof raw === "string") return { type: "text", text: raw };
  if (!isObject(raw)) return { type: "unknown", raw };
  if (typeof raw["text"] === "string") {
    keepUnknownFields(state, TEXT_PART, raw, emit);
    return { type: "text", text: raw["text"] };
  }
  if (raw["json"] === undefined) return { type: "unknown", raw };
  keepUnknownFields(state, JSON_PART, raw, emit);
  return { type: "json", value: raw["json"] as JsonValue };
}

function sizeOf(part: ToolResultPart): number {
  if (part.type === "text") return part.text.length;
  return jsonText(part.type === "json" ? part.value : part.raw).length;
}
