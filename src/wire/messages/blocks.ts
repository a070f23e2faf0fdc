import { isObject, jsonText } from "../../domain/json.ts";
import { tell } from "../chat/told.ts";
import type { Fields } from "../converse/schema.ts";
import { COST_OF_A_PIECE, keepUnknown, type Out } from "../converse/state.ts";
import type { MessagesState } from "./state.ts";

export function startBlock(state: MessagesState, fields: Fields, emit: Out): void {
  const { index, content_block: raw } = fields;
  const block = isObject(raw) ? raw : {};
  const { type } = block;
  const kind = typeof type === "string" ? type : "";
  const isKnown = CONTENT_KINDS.has(kind) || CALL_KINDS.has(kind) || isResult(kind);
  state.converse.characters += COST_OF_A_PIECE;
  state.blocks.set(index, { unknown: !isKnown, input: CALL_KINDS.has(kind) ? inputOf(block) : "" });
  if (CONTENT_KINDS.has(kind)) return foldContent(state, index, block, emit);
  if (CALL_KINDS.has(kind)) return startCall(state, index, block, emit);
  if (isResult(kind)) return foldResult(state, index, block, emit);
  keepUnknown(state.converse, { what: "start", name: kind, raw }, emit);
}

const CONTENT_KINDS: ReadonlySet<string> = new Set(["text", "thinking", "redacted_thinking"]);
/** The same words as on the stream of a harness, which tell whose call it is. */
const CALL_KINDS: ReadonlySet<string> = new Set(["tool_use", "server_tool_use", "mcp_tool_use"]);

/** Results of tools that ran at Anthropic: `web_search_tool_result`, `mcp_tool_result` and their like. */
function isResult(kind: string): boolean {
  return kind.endsWith("_tool_result");
}

/** A block may start with some of its content. Even an empty one is a block. */
function foldContent(state: MessagesState, index: unknown, block: Fields, emit: Out): void {
  const { type, text, thinking, signature, data } = block;
  if (type === "text") return tellDelta(state, index, { text: textOf(text) }, emit);
  const reasoningContent =
    type === "redacted_thinking"
      ? { redactedContent: textOf(data) }
      : { text: textOf(thinking), signature: textOf(signature) };
  tellDelta(state, index, { reasoningContent }, emit);
}

function startCall(state: MessagesState, index: unknown, block: Fields, emit: Out): void {
  const { type, id, name, server_name: serverName } = block;
  const toolUse = { toolUseId: id, name, type, ...(serverName !== undefined && { serverName }) };
  tell(state, "contentBlockStart", { contentBlockIndex: index, start: { toolUse } }, emit);
}

function inputOf({ input }: Fields): string {
  return isObject(input) && Object.keys(input).length > 0 ? jsonText(input) : "";
}

function foldResult(state: MessagesState, index: unknown, block: Fields, emit: Out): void {
  const { tool_use_id: toolUseId, content, is_error: isError } = block;
  const failed =
    isError === true || (isObject(content) && textOf(content["type"]).endsWith("_error"));
  const toolResult = { toolUseId, status: failed ? "error" : "success" };
  tell(state, "contentBlockStart", { contentBlockIndex: index, start: { toolResult } }, emit);
  const parts = Array.isArray(content) ? content : content === undefined ? [] : [content];
  if (parts.length > 0) tellDelta(state, index, { toolResult: parts.map(partOf) }, emit);
}

function partOf(raw: unknown): unknown {
  if (typeof raw === "string") return { text: raw };
  if (isObject(raw) && raw["type"] === "text" && typeof raw["text"] === "string") {
    return { text: raw["text"] };
  }
  return { json: raw };
}

export function foldDelta(state: MessagesState, fields: Fields, emit: Out): void {
  const { index, delta: raw } = fields;
  const delta = isObject(raw) ? raw : {};
  const block = state.blocks.get(index);
  if (block?.unknown === true) return keepDelta(state, raw, emit);
  switch (delta["type"]) {
    case "text_delta":
      return tellDelta(state, index, { text: delta["text"] }, emit);
    case "thinking_delta":
      return tellDelta(state, index, { reasoningContent: { text: delta["thinking"] } }, emit);
    case "signature_delta":
      return tellDelta(state, index, { reasoningContent: { signature: delta["signature"] } }, emit);
    case "input_json_delta":
      if (block !== undefined && textOf(delta["partial_json"]) !== "") block.input = "";
      return tellDelta(state, index, { toolUse: { input: delta["partial_json"] } }, emit);
    default:
      return keepDelta(state, raw, emit);
  }
}

export function stopBlock(state: MessagesState, { index }: Fields, emit: Out): void {
  const block = state.blocks.get(index);
  state.blocks.delete(index);
  if (block?.unknown === true) return;
  if (block !== undefined && block.input !== "") {
    tellDelta(state, index, { toolUse: { input: block.input } }, emit);
  }
  tell(state, "contentBlockStop", { contentBlockIndex: index }, emit);
}

function tellDelta(state: MessagesState, index: unknown, delta: object, emit: Out): void {
  tell(state, "contentBlockDelta", { contentBlockIndex: index, delta }, emit);
}

function keepDelta({ converse }: MessagesState, raw: unknown, emit: Out): void {
  const type = isObject(raw) ? textOf(raw["type"]) : "";
  keepUnknown(converse, { what: "delta", name: type, raw }, emit);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
