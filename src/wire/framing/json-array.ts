import type { Codec, Emit } from "../../domain/codec.ts";
import { FrameError, TruncatedStreamError } from "../../domain/errors.ts";
import {
  EMPTY_HEAD,
  releaseHead,
  stripByteOrderMark,
  type StreamPosition,
  appendPending,
  clearPending,
  createPendingBytes,
  peekPending,
  type PendingBytes,
} from "./byte-input.ts";

export interface JsonArrayOptions {
  /** Bytes. A larger element is skipped with a failure item. Default: 64 MiB. */
  readonly maxElementBytes?: number;
}

export type JsonArrayItem =
  | { readonly type: "element"; readonly text: string; readonly offset: number }
  /** No item follows `frame_invalid`: the start of the next element is unknown. */
  | { readonly type: "failure"; readonly error: FrameError };

export interface JsonArrayState extends StreamPosition {
  readonly maxElementBytes: number;
  readonly element: PendingElement;
  phase: Phase;
}

type Phase = "before" | "opened" | "element" | "after-element" | "after-comma" | "after" | "failed";

interface PendingElement {
  offset: number;
  readonly pendingBytes: PendingBytes;
  /** True after the limit was exceeded. Further bytes of the element are discarded. */
  isTooLarge: boolean;
  hasEnded: boolean;
  depth: number;
  isInString: boolean;
  isEscaped: boolean;
}

const DEFAULT_MAX_ELEMENT_BYTES = 64 * 1024 * 1024;

/**
 * Splits a top-level JSON array into its elements as they arrive. Elements are not validated; the consumer parses their
 * text.
 */
export function createJsonArrayDecoder(
  options: JsonArrayOptions = {},
): Codec<JsonArrayState, Uint8Array, JsonArrayItem> {
  const { maxElementBytes = DEFAULT_MAX_ELEMENT_BYTES } = options;
  return {
    initial: () => ({
      offset: 0,
      head: EMPTY_HEAD,
      maxElementBytes,
      element: createPendingElement(),
      phase: "before",
    }),
    step(state, chunk, emit) {
      readChunk(state, stripByteOrderMark(state, chunk), emit);
    },
    finish(state, emit) {
      readChunk(state, releaseHead(state), emit);
      endStream(state, emit);
    },
    isOver: ({ phase }) => phase === "failed",
  };
}

function createPendingElement(): PendingElement {
  return {
    offset: 0,
    pendingBytes: createPendingBytes(),
    isTooLarge: false,
    hasEnded: false,
    depth: 0,
    isInString: false,
    isEscaped: false,
  };
}

function readChunk(state: JsonArrayState, chunk: Uint8Array, emit: Emit<JsonArrayItem>): void {
  let at = 0;
  while (at < chunk.length && state.phase !== "failed") {
    if (state.phase === "element") {
      const end = findElementEnd(state.element, chunk, at);
      appendPiece(state, chunk.subarray(at, end), emit);
      at = end;
    } else if (isWhitespace(chunk[at])) {
      at += 1;
    } else {
      const next = resolveNextPhase(state.phase, chunk[at]);
      enterPhase(state, next, state.offset + at, emit);
      // The first byte of an element is read again as part of the element.
      if (next !== "element") at += 1;
    }
  }
  state.offset += chunk.length;
}

function isWhitespace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** Returns the phase after a byte between elements. */
function resolveNextPhase(phase: Phase, byte: number | undefined): Phase {
  switch (phase) {
    case "before":
      return byte === OPEN_BRACKET ? "opened" : "failed";
    case "opened":
      if (byte === CLOSE_BRACKET) return "after";
      return canStartElement(byte) ? "element" : "failed";
    case "after-comma":
      return canStartElement(byte) ? "element" : "failed";
    case "after-element":
      if (byte === COMMA) return "after-comma";
      return byte === CLOSE_BRACKET ? "after" : "failed";
    default:
      return "failed";
  }
}

function canStartElement(byte: number | undefined): boolean {
  return byte !== COMMA && byte !== CLOSE_BRACKET && byte !== CLOSE_BRACE;
}

function enterPhase(
  state: JsonArrayState,
  phase: Phase,
  offset: number,
  emit: Emit<JsonArrayItem>,
): void {
  if (phase === "element") state.element.offset = offset;
  if (phase === "failed") {
    const message = `Unexpected input at byte ${offset}: expected ${EXPECTED_INPUT[state.phase]}`;
    emit({ type: "failure", error: new FrameError("frame_invalid", message, { offset }) });
  }
  state.phase = phase;
}

/**
 * Continues reading the current element. Returns its end, or the length of the chunk if the element is not complete.
 */
function findElementEnd(element: PendingElement, chunk: Uint8Array, from: number): number {
  let at = from;
  while (at < chunk.length && !element.hasEnded) {
    at = element.isInString ? readString(element, chunk, at) : readStructure(element, chunk, at);
  }
  return at;
}

/** Reads to the end of a string. */
function readString(element: PendingElement, chunk: Uint8Array, from: number): number {
  for (let at = from; at < chunk.length; at += 1) {
    const byte = chunk[at];
    if (element.isEscaped) element.isEscaped = false;
    else if (byte === BACKSLASH) element.isEscaped = true;
    else if (byte === QUOTE) {
      element.isInString = false;
      element.hasEnded = element.depth === 0;
      return at + 1;
    }
  }
  return chunk.length;
}

/** Reads to the next string or to the end of the element. */
function readStructure(element: PendingElement, chunk: Uint8Array, from: number): number {
  for (let at = from; at < chunk.length; at += 1) {
    const byte = chunk[at];
    if (byte === QUOTE) {
      element.isInString = true;
      return at + 1;
    }
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) element.depth += 1;
    else if (element.depth === 0 && isPlainValueEnd(byte)) {
      element.hasEnded = true;
      return at;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      element.depth -= 1;
      element.hasEnded = element.depth === 0;
      if (element.hasEnded) return at + 1;
    }
  }
  return chunk.length;
}

/** Numbers, `true`, `false` and `null` have no closing character; the next delimiter ends the value. */
function isPlainValueEnd(byte: number | undefined): boolean {
  return !canStartElement(byte) || isWhitespace(byte);
}

function appendPiece(state: JsonArrayState, piece: Uint8Array, emit: Emit<JsonArrayItem>): void {
  const { element, maxElementBytes } = state;
  const { pendingBytes, offset } = element;
  const isWhole = pendingBytes.length === 0 && element.hasEnded;
  if (!element.isTooLarge && pendingBytes.length + piece.length > maxElementBytes) {
    element.isTooLarge = true;
    clearPending(pendingBytes);
    const message = `The element at byte ${offset} is larger than the limit of ${maxElementBytes} bytes`;
    emit({ type: "failure", error: new FrameError("event_too_large", message, { offset }) });
  }
  if (!element.isTooLarge && !isWhole) appendPending(pendingBytes, piece, maxElementBytes);
  if (!element.hasEnded) return;
  if (!element.isTooLarge) {
    const text = utf8.decode(isWhole ? piece : peekPending(pendingBytes));
    emit({ type: "element", text, offset });
  }
  clearPending(pendingBytes);
  element.isTooLarge = false;
  element.hasEnded = false;
  state.phase = "after-element";
}

function endStream(state: JsonArrayState, emit: Emit<JsonArrayItem>): void {
  if (state.phase === "after" || state.phase === "failed") return;
  const offset = state.phase === "element" ? state.element.offset : state.offset;
  const pendingBytes = state.offset - offset;
  const message = `The input ended at byte ${state.offset}: expected ${EXPECTED_INPUT[state.phase]}`;
  emit({ type: "failure", error: new TruncatedStreamError(message, { offset, pendingBytes }) });
}

const EXPECTED_INPUT: Readonly<Record<Phase, string>> = {
  before: "the start of an array",
  opened: "an element or the end of the array",
  element: "the rest of an element",
  "after-element": "a comma or the end of the array",
  "after-comma": "an element",
  after: "the end of the input",
  failed: "nothing",
};

// A byte order mark inside the stream is text; the mark at the start was removed before.
const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
