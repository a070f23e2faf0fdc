import { hasInexactInteger, parseJson } from "../../domain/json.ts";
import { gather, noText, type GatheredText } from "../../domain/kept-text.ts";
import { cutCall, toolCall, type ToolResultPart } from "../../domain/tool.ts";
import {
  diagnose,
  COST_OF_A_PIECE,
  type Block,
  type Call,
  type CallBlock,
  type ContentBlock,
  type ConverseState,
  type Out,
  type ResultBlock,
  type Slot,
} from "./state.ts";

/** How a block came to its end. */
export type Closing = { readonly implicitStop?: true };

export const EXPLICIT: Closing = {};
export const IMPLICIT: Closing = { implicitStop: true };

/** An absent index is a place of its own. */
export function slotKey(index: unknown): unknown {
  return index ?? undefined;
}

export function isEmpty({ content, call, result }: Slot): boolean {
  return content === null && call === null && result === null;
}

export function slotAt(state: ConverseState, index: unknown): Slot {
  const key = slotKey(index);
  let slot = state.slots.get(key);
  if (slot === undefined) {
    slot = { content: null, call: null, result: null };
    state.slots.set(key, slot);
    state.characters += COST_OF_A_PIECE;
  }
  return slot;
}

/** Text and reasoning have no start event: their first delta opens them. */
export function contentBlock(
  state: ConverseState,
  slot: Slot,
  kind: ContentBlock["kind"],
  emit: Out,
): ContentBlock {
  if (slot.content?.kind === kind) return slot.content;
  if (!isEmpty(slot)) {
    const message = `A ${kind} delta came at the index of an open block of another kind; it is a block of its own`;
    diagnose(state, "block_kind_mismatch", message, emit);
  }
  if (slot.content !== null) closeBlock(state, slot.content, emit, IMPLICIT);
  const nothing = { ...noText(), carry: "", signature: noText(), redacted: [] };
  slot.content = { ...placed(state), kind, ...nothing };
  return slot.content;
}

export function appendContent(
  state: ConverseState,
  block: ContentBlock,
  fragment: string,
  emit: Out,
): void {
  const text = wholeCharacters(state, block, fragment, emit);
  if (text === "") return;
  const type = block.kind === "text" ? "text.delta" : "reasoning.delta";
  emit({ type, message: block.message, block: block.number, text });
}

/** Redacted reasoning is base64: nothing of it is shown, and it goes back as it came. */
export function appendRedacted(state: ConverseState, block: ContentBlock, base64: string): void {
  state.characters += base64.length + COST_OF_A_PIECE;
  block.redacted.push(base64);
}

export function openCall(state: ConverseState, slot: Slot, call: Call, emit: Out): void {
  const block: CallBlock = { ...placed(state), kind: "call", call, ...noText(), carry: "" };
  slot.call = block;
  call.slot = slot;
  const { message, number } = block;
  emit({ type: "tool.start", message, block: number, callId: call.id, name: call.name });
}

/** Ends the streaming of a call that is about to be opened again elsewhere. */
export function closeCallBlock(state: ConverseState, call: Call, emit: Out): void {
  const { slot } = call;
  if (slot?.call?.call !== call) return;
  closeBlock(state, slot.call, emit, IMPLICIT);
  slot.call = null;
}

export function appendInput(
  state: ConverseState,
  block: CallBlock,
  fragment: string,
  emit: Out,
): void {
  const text = wholeCharacters(state, block, fragment, emit);
  if (text === "") return;
  const { message, number, call } = block;
  emit({ type: "tool.delta", message, block: number, callId: call.id, text });
}

export function openResult(
  state: ConverseState,
  slot: Slot,
  facts: { readonly callId: string; readonly isError: boolean },
): void {
  slot.result = { ...placed(state), ...facts, kind: "result", parts: [], metadata: noText() };
}

/** A delta continues the text part before it; only parts that come in one delta are apart. */
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
  emit: Out,
  closing: Closing,
): void {
  const open: Block[] = [];
  for (const slot of slots) {
    for (const block of [slot.content, slot.call, slot.result])
      if (block !== null) open.push(block);
    slot.content = null;
    slot.call = null;
    slot.result = null;
  }
  open.sort((left, right) => left.number - right.number);
  for (const block of open) closeBlock(state, block, emit, closing);
}

function closeBlock(state: ConverseState, block: Block, emit: Out, closing: Closing): void {
  if (closing.implicitStop === true) {
    const message = `A ${block.kind} block was never closed by the provider`;
    diagnose(state, "block_stop_missing", message, emit);
  }
  switch (block.kind) {
    case "call":
      return closeCall(state, block, emit, closing);
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
  emit: Out,
  closing: Closing,
): void {
  if (block.carry !== "") appendContent(state, block, loneSurrogate(state, block, emit), emit);
  const place = { message: block.message, block: block.number };
  const { text } = block;
  const signature = block.signature.text;
  if (block.kind === "text") {
    emit({ type: "text.end", ...place, text, ...closing });
  } else if (block.kind === "redacted") {
    const redacted = joinBase64(block.redacted);
    emit({ type: "reasoning.end", ...place, text: "", redacted, ...closing });
  } else if (signature === "") {
    emit({ type: "reasoning.end", ...place, text, ...closing });
  } else {
    emit({ type: "reasoning.end", ...place, text, signature, ...closing });
  }
}

function closeCall(state: ConverseState, block: CallBlock, emit: Out, closing: Closing): void {
  if (block.carry !== "") appendInput(state, block, loneSurrogate(state, block, emit), emit);
  const { id, name, runBy, server } = block.call;
  const facts = { id, name, inputText: block.text, runBy, ...(server !== undefined && { server }) };
  const call = isCutShort(state, block, closing) ? cutCall(facts) : toolCall(facts);
  if (call.inputError !== undefined) {
    const message = `Arguments of "${name}" (${id}) cannot be used: ${call.inputError.message}`;
    diagnose(state, "tool_input_invalid", message, emit);
  } else if (hasInexactInteger(block.text)) {
    const message = `Arguments of "${name}" (${id}) hold a number that only their text has exactly`;
    diagnose(state, "number_not_exact", message, emit);
  }
  emit({ type: "tool.end", message: block.message, block: block.number, call, ...closing });
}

/** A call without arguments is whole only if the provider closed it, or its message stopped for tools. */
function isCutShort(state: ConverseState, block: CallBlock, closing: Closing): boolean {
  if (closing.implicitStop !== true || block.text.trim() !== "") return false;
  const outcome = state.outcomes.get(state.message?.reason ?? "");
  return outcome !== "completed" && outcome !== "action-required";
}

function closeResult(state: ConverseState, block: ResultBlock, emit: Out, closing: Closing): void {
  const { message, number, callId, isError } = block;
  const parts = block.parts.map((part) => wellFormed(state, part, emit));
  const facts = { callId, parts, isError };
  const metadata = block.metadata.text;
  const result = metadata === "" ? facts : { ...facts, metadata: parsedOrRaw(metadata) };
  emit({ type: "tool.result", message, block: number, result, ...closing });
}

function placed(state: ConverseState): { message: number; number: number } {
  state.characters += COST_OF_A_PIECE;
  return { message: state.message?.number ?? 0, number: state.blockCount++ };
}

function parsedOrRaw(text: string): unknown {
  const parsed = parseJson(text);
  return parsed.ok ? parsed.value : text;
}

/**
 * Adds a fragment and returns what of it can be shown. Old Strands containers split a surrogate pair over two
 * deltas; half a character must neither be shown nor be lost.
 */
function wholeCharacters(
  state: ConverseState,
  block: GatheredText & { carry: string },
  fragment: string,
  emit: Out,
): string {
  let text = block.carry === "" ? fragment : block.carry + fragment;
  block.carry = "";
  if (isHighSurrogate(text.charCodeAt(text.length - 1))) {
    block.carry = text.slice(-1);
    text = text.slice(0, -1);
  }
  if (!text.isWellFormed()) {
    noteSurrogate(state, emit);
    text = text.toWellFormed();
  }
  gather(block, text);
  state.characters += text.length;
  return text;
}

function loneSurrogate(state: ConverseState, block: { carry: string }, emit: Out): string {
  block.carry = "";
  noteSurrogate(state, emit);
  return "\uFFFD";
}

/** Only the whole text of a part can tell: a pair may lie across two deltas. */
function wellFormed(state: ConverseState, part: ToolResultPart, emit: Out): ToolResultPart {
  if (part.type !== "text" || part.text.isWellFormed()) return part;
  noteSurrogate(state, emit);
  return { type: "text", text: part.text.toWellFormed() };
}

function noteSurrogate(state: ConverseState, emit: Out): void {
  diagnose(state, "unpaired_surrogate", "Half a surrogate pair became U+FFFD", emit);
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

/** Padded pieces are byte strings of their own; their letters cannot simply be put together. */
function joinBase64(pieces: readonly string[]): string {
  if (!pieces.slice(0, -1).some((piece) => piece.endsWith("="))) return pieces.join("");
  try {
    return btoa(pieces.map((piece) => atob(piece)).join(""));
  } catch {
    return pieces.join("");
  }
}
