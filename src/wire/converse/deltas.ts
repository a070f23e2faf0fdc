import { isObject, toJsonText, type JsonValue } from "../../data/json.ts";
import { appendText } from "../../text/text-builder.ts";
import type { ToolResultPart } from "../../domain/tools/tool-call.ts";
import {
  appendContent,
  appendInput,
  appendParts,
  appendRedacted,
  ensureContentBlock,
  ensureSlot,
} from "./blocks.ts";
import { ensureMessage } from "./turn-boundaries.ts";
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
  PIECE_OVERHEAD,
  diagnose,
  keepUnknown,
  keepUnknownFields,
  type ConverseState,
  type EmitEvent,
  type Slot,
} from "./state.ts";

export function foldDelta(state: ConverseState, fields: Fields, emit: EmitEvent): void {
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
    if (state.message === null || state.message.isClosed) {
      const role = kind.startsWith("toolResult") ? "user" : "assistant";
      ensureMessage(state, { role, isTrailing: true }, emit);
    }
    foldMember(state, ensureSlot(state, index), { kind, body }, emit);
  }
}

/** Absent indexes are normal for models which Strands reaches through APIs other than Bedrock. */
function isIndex(index: unknown): boolean {
  if (index === undefined || index === null) return true;
  return typeof index === "number" && index >= 0 && Number.isInteger(index);
}

interface Member {
  readonly kind: string;
  readonly body: unknown;
}

function foldMember(
  state: ConverseState,
  slot: Slot,
  { kind, body }: Member,
  emit: EmitEvent,
): void {
  switch (kind) {
    case "text":
      if (typeof body !== "string") break;
      return appendContent(state, ensureContentBlock(state, slot, "text", emit), body, emit);
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
      appendText(slot.result.metadata, body["metadata"]);
      return;
    default:
  }
  keepUnknown(state, { what: "delta", name: kind, raw: body }, emit);
}

/** Arguments arrive as fragments of JSON text. Some providers send a parsed object, which is serialized. */
function foldInput(state: ConverseState, slot: Slot, body: unknown, emit: EmitEvent): void {
  const input = isObject(body) ? body["input"] : undefined;
  if (isObject(body)) keepUnknownFields(state, TOOL_USE_DELTA, body, emit);
  if (input === undefined || input === null) return;
  if (slot.toolCall === null) {
    // Without a start event, these arguments have no tool call. An invented tool call would lack an id and a name.
    emit({ type: "unknown", what: "delta", name: "toolUse", raw: body });
    const message = "Tool arguments came at an index where no tool call is open";
    return diagnose(state, "tool_input_unmatched", message, emit);
  }
  appendInput(state, slot.toolCall, typeof input === "string" ? input : toJsonText(input), emit);
}

function foldReasoning(state: ConverseState, slot: Slot, body: Fields, emit: EmitEvent): void {
  const { text, signature, redactedContent } = body;
  keepUnknownFields(state, REASONING, body, emit);
  if (typeof text === "string") {
    appendContent(state, ensureContentBlock(state, slot, "reasoning", emit), text, emit);
  }
  if (typeof signature === "string") {
    state.characters += signature.length;
    appendText(ensureContentBlock(state, slot, "reasoning", emit).signature, signature);
  }
  const base64 = toBase64(redactedContent);
  if (base64 !== undefined) {
    appendRedacted(state, ensureContentBlock(state, slot, "redacted", emit), base64);
  } else if (redactedContent !== undefined && redactedContent !== null) {
    keepUnknown(state, { what: "delta", name: "redactedContent", raw: redactedContent }, emit);
  }
}

/** The wire format has base64; events of the AWS SDK have bytes. */
function toBase64(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (!(value instanceof Uint8Array)) return undefined;
  return btoa(Array.from(value, (byte) => String.fromCharCode(byte)).join(""));
}

function foldResultParts(state: ConverseState, slot: Slot, body: unknown, emit: EmitEvent): void {
  if (slot.result === null) {
    emit({ type: "unknown", what: "delta", name: "toolResult", raw: body });
    const message = "Tool result content came at an index where no tool result is open";
    return diagnose(state, "tool_result_unmatched", message, emit);
  }
  const parts = (Array.isArray(body) ? body : [body]).map((raw) =>
    readResultPart(state, raw, emit),
  );
  for (const part of parts) state.characters += measureResultPart(part) + PIECE_OVERHEAD;
  appendParts(slot.result, parts);
}

function readResultPart(state: ConverseState, raw: unknown, emit: EmitEvent): ToolResultPart {
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

function measureResultPart(part: ToolResultPart): number {
  if (part.type === "text") return part.text.length;
  return toJsonText(part.type === "json" ? part.value : part.raw).length;
}
