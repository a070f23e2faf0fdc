import { isObject, toJsonText } from "../../data/json.ts";
import { stepConverse } from "../chat/converse-adapter.ts";
import type { Fields } from "../converse/schema.ts";
import { PIECE_OVERHEAD, keepUnknown, type EmitEvent } from "../converse/state.ts";
import type { MessagesState } from "./state.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

export function startBlock(state: MessagesState, fields: Fields, emit: EmitEvent): void {
  const { index, content_block: raw } = fields;
  const block = isObject(raw) ? raw : {};
  const { type } = block;
  const kind = typeof type === "string" ? type : "";
  const isKnown = CONTENT_KINDS.has(kind) || TOOL_CALL_KINDS.has(kind) || isResultKind(kind);
  state.converse.characters += PIECE_OVERHEAD;
  state.blocks.set(index, {
    isUnknown: !isKnown,
    input: TOOL_CALL_KINDS.has(kind) ? toInputText(block) : "",
  });
  if (CONTENT_KINDS.has(kind)) return foldContent(state, index, block, emit);
  if (TOOL_CALL_KINDS.has(kind)) return startToolCall(state, index, block, emit);
  if (isResultKind(kind)) return foldResult(state, index, block, emit);
  keepUnknown(state.converse, { what: "start", name: kind, raw }, emit);
}

const CONTENT_KINDS: ReadonlySet<string> = new Set(["text", "thinking", "redacted_thinking"]);
/** The same names as in the stream of a harness. They tell which side runs the tool. */
const TOOL_CALL_KINDS: ReadonlySet<string> = new Set([
  "tool_use",
  "server_tool_use",
  "mcp_tool_use",
]);

/**
 * Returns whether the kind is the result of a tool run by Anthropic, such as `web_search_tool_result` or
 * `mcp_tool_result`.
 */
function isResultKind(kind: string): boolean {
  return kind.endsWith("_tool_result");
}

/** A start event may carry content. An empty block is a block too. */
function foldContent(state: MessagesState, index: unknown, block: Fields, emit: EmitEvent): void {
  const { type, text, thinking, signature, data } = block;
  if (type === "text") return stepDelta(state, index, { text: toStringOrEmpty(text) }, emit);
  const reasoningContent =
    type === "redacted_thinking"
      ? { redactedContent: toStringOrEmpty(data) }
      : { text: toStringOrEmpty(thinking), signature: toStringOrEmpty(signature) };
  stepDelta(state, index, { reasoningContent }, emit);
}

function startToolCall(state: MessagesState, index: unknown, block: Fields, emit: EmitEvent): void {
  const { type, id, name, server_name: serverName } = block;
  const toolUse = { toolUseId: id, name, type, ...omitUndefined({ serverName }) };
  stepConverse(state, "contentBlockStart", { contentBlockIndex: index, start: { toolUse } }, emit);
}

function toInputText({ input }: Fields): string {
  return isObject(input) && Object.keys(input).length > 0 ? toJsonText(input) : "";
}

function foldResult(state: MessagesState, index: unknown, block: Fields, emit: EmitEvent): void {
  const { tool_use_id: toolUseId, content, is_error: isError } = block;
  const failed =
    isError === true || (isObject(content) && toStringOrEmpty(content["type"]).endsWith("_error"));
  const toolResult = { toolUseId, status: failed ? "error" : "success" };
  stepConverse(
    state,
    "contentBlockStart",
    { contentBlockIndex: index, start: { toolResult } },
    emit,
  );
  const parts = Array.isArray(content) ? content : content === undefined ? [] : [content];
  if (parts.length > 0) stepDelta(state, index, { toolResult: parts.map(toResultPart) }, emit);
}

function toResultPart(raw: unknown): unknown {
  if (typeof raw === "string") return { text: raw };
  if (isObject(raw) && raw["type"] === "text" && typeof raw["text"] === "string") {
    return { text: raw["text"] };
  }
  return { json: raw };
}

export function foldDelta(state: MessagesState, fields: Fields, emit: EmitEvent): void {
  const { index, delta: raw } = fields;
  const delta = isObject(raw) ? raw : {};
  const block = state.blocks.get(index);
  if (block?.isUnknown === true) return keepUnknownDelta(state, raw, emit);
  switch (delta["type"]) {
    case "text_delta":
      return stepDelta(state, index, { text: delta["text"] }, emit);
    case "thinking_delta":
      return stepDelta(state, index, { reasoningContent: { text: delta["thinking"] } }, emit);
    case "signature_delta":
      return stepDelta(state, index, { reasoningContent: { signature: delta["signature"] } }, emit);
    case "input_json_delta":
      if (block !== undefined && toStringOrEmpty(delta["partial_json"]) !== "") block.input = "";
      return stepDelta(state, index, { toolUse: { input: delta["partial_json"] } }, emit);
    default:
      return keepUnknownDelta(state, raw, emit);
  }
}

export function stopBlock(state: MessagesState, { index }: Fields, emit: EmitEvent): void {
  const block = state.blocks.get(index);
  state.blocks.delete(index);
  if (block?.isUnknown === true) return;
  if (block !== undefined && block.input !== "") {
    stepDelta(state, index, { toolUse: { input: block.input } }, emit);
  }
  stepConverse(state, "contentBlockStop", { contentBlockIndex: index }, emit);
}

function stepDelta(state: MessagesState, index: unknown, delta: object, emit: EmitEvent): void {
  stepConverse(state, "contentBlockDelta", { contentBlockIndex: index, delta }, emit);
}

function keepUnknownDelta({ converse }: MessagesState, raw: unknown, emit: EmitEvent): void {
  const type = isObject(raw) ? toStringOrEmpty(raw["type"]) : "";
  keepUnknown(converse, { what: "delta", name: type, raw }, emit);
}

function toStringOrEmpty(value: unknown): string {
  return typeof value === "string" ? value : "";
}
