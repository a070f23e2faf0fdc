import { isObject, toJsonText, parseJson } from "../../data/json.ts";
import { appendText, createTextBuilder } from "../../text/text-builder.ts";
import { PIECE_OVERHEAD, diagnose, keepUnknown, type EmitEvent } from "../converse/state.ts";
import { closeContent } from "./content.ts";
import { TOOL_CALL } from "./schema.ts";
import type { ChatToolCall, ChatState } from "./state.ts";
import { keepUnknownMembers, stepConverse } from "./converse-adapter.ts";

/**
 * Folds one entry of `tool_calls`. OpenAI identifies a tool call by its index in every chunk and by its id in the
 * first. Observed deviations: no index, index 0 for every tool call, a repeated id, and complete tool calls in one
 * chunk.
 */
export function foldToolCall(state: ChatState, raw: unknown, emit: EmitEvent): void {
  const entry = isObject(raw) ? raw : {};
  const { function: functionFields } = entry;
  if (!isObject(functionFields)) {
    return keepUnknown(state.converse, { what: "delta", name: "tool_calls", raw }, emit);
  }
  keepUnknownMembers(state, TOOL_CALL, entry, emit);
  const fragment: ToolCallFragment = {
    index: typeof entry["index"] === "number" ? entry["index"] : null,
    id: toStringOrEmpty(entry["id"]),
    name: toStringOrEmpty(functionFields["name"]),
    input: toInputText(functionFields["arguments"]),
  };
  const call = findToolCall(state, fragment) ?? addToolCall(state, fragment);
  if (call.id === "") setToolCallId(state, call, fragment.id);
  if (call.name === "") call.name = fragment.name;
  appendInput(state, call, fragment.input, emit);
  if (call.index === null && call.id !== "" && call.name !== "") openToolCall(state, call, emit);
}

interface ToolCallFragment {
  readonly index: number | null;
  /** Empty if absent, like the name. */
  readonly id: string;
  readonly name: string;
  readonly input: string;
}

/** Returns the tool call continued by a fragment. A different id starts a new tool call, regardless of the index. */
function findToolCall(
  state: ChatState,
  { index, id, name, input }: ToolCallFragment,
): ChatToolCall | undefined {
  if (index === null && id !== "") return state.toolCallsById.get(id);
  const candidate = index === null ? state.toolCalls.at(-1) : state.toolCallsByIndex.get(index);
  if (candidate === undefined) return undefined;
  if (id !== "" && candidate.id !== "") return id === candidate.id ? candidate : undefined;
  if (id !== "" || name === "" || candidate.name === "") return candidate;
  if (index === null) return undefined;
  return candidate.id === "" && candidate.pendingInput.text !== "" && isWholeInput(input)
    ? undefined
    : candidate;
}

/** Among tool calls without ids, only a fragment with complete arguments indicates a new tool call. */
function isWholeInput(input: string): boolean {
  const parsed = parseJson(input);
  return parsed.ok && isObject(parsed.value);
}

function addToolCall(state: ChatState, { index, name }: ToolCallFragment): ChatToolCall {
  const call: ChatToolCall = { id: "", name, index: null, pendingInput: createTextBuilder() };
  state.converse.characters += PIECE_OVERHEAD;
  state.toolCalls.push(call);
  if (index !== null) state.toolCallsByIndex.set(index, call);
  return call;
}

function setToolCallId(state: ChatState, call: ChatToolCall, id: string): void {
  call.id = id;
  if (id !== "") state.toolCallsById.set(id, call);
}

function appendInput(state: ChatState, call: ChatToolCall, input: string, emit: EmitEvent): void {
  if (call.index !== null) stepInput(state, call.index, input, emit);
  else if (state.converse.characters <= state.converse.maxCharacters) {
    state.converse.characters += input.length;
    appendText(call.pendingInput, input);
  }
}

function openToolCall(state: ChatState, call: ChatToolCall, emit: EmitEvent): void {
  closeContent(state, emit);
  call.index = state.nextIndex++;
  const start = { toolUse: { toolUseId: call.id, name: call.name } };
  stepConverse(state, "contentBlockStart", { contentBlockIndex: call.index, start }, emit);
  const { text } = call.pendingInput;
  state.converse.characters -= text.length;
  stepInput(state, call.index, text, emit);
  call.pendingInput.text = "";
}

function stepInput(state: ChatState, index: number, input: string, emit: EmitEvent): void {
  if (input === "") return;
  const delta = { toolUse: { input } };
  stepConverse(state, "contentBlockDelta", { contentBlockIndex: index, delta }, emit);
}

/**
 * Opens the tool calls which never received an id or a name. The id only pairs a result with its tool call in a history
 * which is sent as a whole, so a generated id is sufficient.
 */
export function openPendingToolCalls(state: ChatState, emit: EmitEvent): void {
  for (const [position, call] of state.toolCalls.entries()) {
    if (call.index !== null) continue;
    if (call.id === "") {
      setToolCallId(state, call, createToolCallId(state, position));
      const message = `Tool call "${call.name}" has no id; the id ${call.id} was generated`;
      diagnose(state.converse, "tool_id_missing", message, emit);
    }
    openToolCall(state, call, emit);
  }
}

/** Derives the id from the response id, to be unique across responses. */
function createToolCallId({ responseId }: ChatState, position: number): string {
  const prefix = responseId.replaceAll(/[^a-zA-Z0-9_-]/g, "-").slice(-MAX_PREFIX_LENGTH);
  return `${prefix === "" ? "" : `${prefix}-`}call-${position}`;
}

const MAX_PREFIX_LENGTH = 48;

export function closeToolCalls(state: ChatState, emit: EmitEvent): void {
  for (const { index } of state.toolCalls) {
    if (index !== null) stepConverse(state, "contentBlockStop", { contentBlockIndex: index }, emit);
  }
}

function toStringOrEmpty(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Arguments are JSON text. Some servers send a parsed object, which is serialized. */
function toInputText(value: unknown): string {
  if (typeof value === "string") return value;
  return isObject(value) ? toJsonText(value) : "";
}
