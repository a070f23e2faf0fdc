import { hasInexactInteger, parseJson } from "../../data/json.ts";
import { appendText, createTextBuilder, type TextBuilder } from "../../text/text-builder.ts";
import {
  createCutToolCall,
  createToolCall,
  type ToolResultPart,
} from "../../domain/tools/tool-call.ts";
import {
  diagnose,
  PIECE_OVERHEAD,
  type Block,
  type ToolCallState,
  type ToolCallBlock,
  type ContentBlock,
  type ConverseState,
  type EmitEvent,
  type ResultBlock,
  type Slot,
} from "./state.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/** How a block was closed. `implicitStop` is true if the provider sent no stop event for the block. */
export type BlockClosing = { readonly implicitStop?: true };

export const EXPLICIT: BlockClosing = {};
export const IMPLICIT: BlockClosing = { implicitStop: true };

/** Maps null to undefined: an absent index is a separate slot. */
export function toSlotKey(index: unknown): unknown {
  return index ?? undefined;
}

export function isEmptySlot({ content, toolCall, result }: Slot): boolean {
  return content === null && toolCall === null && result === null;
}

export function ensureSlot(state: ConverseState, index: unknown): Slot {
  const key = toSlotKey(index);
  let slot = state.slots.get(key);
  if (slot === undefined) {
    slot = { content: null, toolCall: null, result: null };
    state.slots.set(key, slot);
    state.characters += PIECE_OVERHEAD;
  }
  return slot;
}

/** Text and reasoning have no start event; the first delta opens the block. */
export function ensureContentBlock(
  state: ConverseState,
  slot: Slot,
  kind: ContentBlock["kind"],
  emit: EmitEvent,
): ContentBlock {
  if (slot.content?.kind === kind) return slot.content;
  if (!isEmptySlot(slot)) {
    const message = `A ${kind} delta arrived at the index of an open block of another kind and starts a new block`;
    diagnose(state, "block_kind_mismatch", message, emit);
  }
  if (slot.content !== null) closeBlock(state, slot.content, emit, IMPLICIT);
  const emptyContent = {
    ...createTextBuilder(),
    carry: "",
    signature: createTextBuilder(),
    redacted: [],
  };
  slot.content = { ...allocateBlock(state), kind, ...emptyContent };
  return slot.content;
}

export function appendContent(
  state: ConverseState,
  block: ContentBlock,
  fragment: string,
  emit: EmitEvent,
): void {
  const text = appendWholeCharacters(state, block, fragment, emit);
  if (text === "") return;
  const type = block.kind === "text" ? "text.delta" : "reasoning.delta";
  emit({ type, message: block.message, block: block.number, text });
}

/** Redacted reasoning is opaque base64. The content is not displayed and returns to the provider unchanged. */
export function appendRedacted(state: ConverseState, block: ContentBlock, base64: string): void {
  state.characters += base64.length + PIECE_OVERHEAD;
  block.redacted.push(base64);
}

export function openToolCall(
  state: ConverseState,
  slot: Slot,
  toolCall: ToolCallState,
  emit: EmitEvent,
): void {
  const block: ToolCallBlock = {
    ...allocateBlock(state),
    kind: "call",
    toolCall,
    ...createTextBuilder(),
    carry: "",
  };
  slot.toolCall = block;
  toolCall.slot = slot;
  const { message, number } = block;
  emit({
    type: "tool.start",
    message,
    block: number,
    toolCallId: toolCall.id,
    name: toolCall.name,
  });
}

/** Closes the block of a tool call before the same tool call is reopened in another block. */
export function closeToolCallBlock(
  state: ConverseState,
  call: ToolCallState,
  emit: EmitEvent,
): void {
  const { slot } = call;
  if (slot?.toolCall?.toolCall !== call) return;
  closeBlock(state, slot.toolCall, emit, IMPLICIT);
  slot.toolCall = null;
}

export function appendInput(
  state: ConverseState,
  block: ToolCallBlock,
  fragment: string,
  emit: EmitEvent,
): void {
  const text = appendWholeCharacters(state, block, fragment, emit);
  if (text === "") return;
  const { message, number, toolCall } = block;
  emit({ type: "tool.delta", message, block: number, toolCallId: toolCall.id, text });
}

export function openResult(
  state: ConverseState,
  slot: Slot,
  facts: { readonly toolCallId: string; readonly isError: boolean },
): void {
  slot.result = {
    ...allocateBlock(state),
    ...facts,
    kind: "result",
    parts: [],
    metadata: createTextBuilder(),
  };
}

/**
 * Appends the parts of one delta. The first text part of a delta continues the last text part; further parts of the
 * same delta are separate.
 */
export function appendParts(block: ResultBlock, parts: readonly ToolResultPart[]): void {
  const last = block.parts.at(-1);
  for (const [index, part] of parts.entries()) {
    if (index === 0 && part.type === "text" && last?.type === "text") {
      block.parts[block.parts.length - 1] = { type: "text", text: last.text + part.text };
    } else {
      block.parts.push(part);
    }
  }
}

export function closeSlots(
  state: ConverseState,
  slots: Iterable<Slot>,
  emit: EmitEvent,
  closing: BlockClosing,
): void {
  const openBlocks: Block[] = [];
  for (const slot of slots) {
    for (const block of [slot.content, slot.toolCall, slot.result])
      if (block !== null) openBlocks.push(block);
    slot.content = null;
    slot.toolCall = null;
    slot.result = null;
  }
  openBlocks.sort((left, right) => left.number - right.number);
  for (const block of openBlocks) closeBlock(state, block, emit, closing);
}

function closeBlock(
  state: ConverseState,
  block: Block,
  emit: EmitEvent,
  closing: BlockClosing,
): void {
  if (closing.implicitStop === true) {
    const message = `A ${block.kind} block was never closed by the provider`;
    diagnose(state, "block_stop_missing", message, emit);
  }
  switch (block.kind) {
    case "call":
      return closeToolCall(state, block, emit, closing);
    case "result":
      return closeResult(state, block, emit, closing);
    case "text":
    case "reasoning":
    case "redacted":
      return closeContent(state, block, emit, closing);
    default:
      block satisfies never;
  }
}

function closeContent(
  state: ConverseState,
  block: ContentBlock,
  emit: EmitEvent,
  closing: BlockClosing,
): void {
  if (block.carry !== "")
    appendContent(state, block, replaceLoneSurrogate(state, block, emit), emit);
  const position = { message: block.message, block: block.number };
  const { text } = block;
  const signature = block.signature.text;
  if (block.kind === "text") {
    emit({ type: "text.end", ...position, text, ...closing });
  } else if (block.kind === "redacted") {
    const redacted = joinBase64(block.redacted);
    emit({ type: "reasoning.end", ...position, text: "", redacted, ...closing });
  } else if (signature === "") {
    emit({ type: "reasoning.end", ...position, text, ...closing });
  } else {
    emit({ type: "reasoning.end", ...position, text, signature, ...closing });
  }
}

function closeToolCall(
  state: ConverseState,
  block: ToolCallBlock,
  emit: EmitEvent,
  closing: BlockClosing,
): void {
  if (block.carry !== "") appendInput(state, block, replaceLoneSurrogate(state, block, emit), emit);
  const { id, name, runBy, server } = block.toolCall;
  const facts = { id, name, inputText: block.text, runBy, ...omitUndefined({ server }) };
  const toolCall = isCutShort(state, block, closing)
    ? createCutToolCall(facts)
    : createToolCall(facts);
  if (toolCall.inputError !== undefined) {
    const message = `Arguments of "${name}" (${id}) are not usable: ${toolCall.inputError.message}`;
    diagnose(state, "tool_input_invalid", message, emit);
  } else if (hasInexactInteger(block.text)) {
    const message = `Arguments of "${name}" (${id}) contain a number too large to parse exactly; inputText has the exact digits`;
    diagnose(state, "number_not_exact", message, emit);
  }
  emit({ type: "tool.end", message: block.message, block: block.number, toolCall, ...closing });
}

/**
 * A tool call without arguments is complete only if the provider closed its block or its message stopped for tools.
 * Otherwise a truncated tool call would run with empty arguments.
 */
function isCutShort(state: ConverseState, block: ToolCallBlock, closing: BlockClosing): boolean {
  if (closing.implicitStop !== true || block.text.trim() !== "") return false;
  const outcome = state.outcomes.get(state.message?.reason ?? "");
  return outcome !== "completed" && outcome !== "action-required";
}

function closeResult(
  state: ConverseState,
  block: ResultBlock,
  emit: EmitEvent,
  closing: BlockClosing,
): void {
  const { message, number, toolCallId, isError } = block;
  const parts = block.parts.map((part) => toWellFormedPart(state, part, emit));
  const facts = { toolCallId, parts, isError };
  const metadata = block.metadata.text;
  const result = metadata === "" ? facts : { ...facts, metadata: parseOrKeepRaw(metadata) };
  emit({ type: "tool.result", message, block: number, result, ...closing });
}

function allocateBlock(state: ConverseState): { message: number; number: number } {
  state.characters += PIECE_OVERHEAD;
  return { message: state.message?.number ?? 0, number: state.blockCount++ };
}

function parseOrKeepRaw(text: string): unknown {
  const parsed = parseJson(text);
  return parsed.ok ? parsed.value : text;
}

/**
 * Appends a fragment and returns the part safe to display. Old Strands containers split a surrogate pair over two
 * deltas; the first half is held in `carry`, neither displayed nor lost.
 */
function appendWholeCharacters(
  state: ConverseState,
  block: TextBuilder & { carry: string },
  fragment: string,
  emit: EmitEvent,
): string {
  let text = block.carry === "" ? fragment : block.carry + fragment;
  block.carry = "";
  if (isHighSurrogate(text.charCodeAt(text.length - 1))) {
    block.carry = text.slice(-1);
    text = text.slice(0, -1);
  }
  if (!text.isWellFormed()) {
    diagnoseSurrogate(state, emit);
    text = text.toWellFormed();
  }
  appendText(block, text);
  state.characters += text.length;
  return text;
}

function replaceLoneSurrogate(
  state: ConverseState,
  block: { carry: string },
  emit: EmitEvent,
): string {
  block.carry = "";
  diagnoseSurrogate(state, emit);
  return "\uFFFD";
}

/** Checks the complete text of a part, because a surrogate pair may be split over two deltas. */
function toWellFormedPart(
  state: ConverseState,
  part: ToolResultPart,
  emit: EmitEvent,
): ToolResultPart {
  if (part.type !== "text" || part.text.isWellFormed()) return part;
  diagnoseSurrogate(state, emit);
  return { type: "text", text: part.text.toWellFormed() };
}

function diagnoseSurrogate(state: ConverseState, emit: EmitEvent): void {
  diagnose(state, "unpaired_surrogate", "An unpaired surrogate was replaced by U+FFFD", emit);
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

/**
 * Joins base64 pieces. Padded pieces are separate byte strings: they are decoded first, because joining the characters
 * would be invalid base64.
 */
function joinBase64(pieces: readonly string[]): string {
  if (!pieces.slice(0, -1).some((piece) => piece.endsWith("="))) return pieces.join("");
  try {
    return btoa(pieces.map((piece) => atob(piece)).join(""));
  } catch {
    return pieces.join("");
  }
}
