import type { Codec, Emit } from "../../domain/codec.ts";
import { FrameError } from "../../domain/errors.ts";
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

export interface JsonLinesOptions {
  /** Bytes. A longer line is skipped with a failure item. Default: 64 MiB. */
  readonly maxLineBytes?: number;
}

export type JsonLinesItem =
  | { readonly type: "line"; readonly text: string; readonly offset: number }
  | {
      readonly type: "failure";
      readonly error: FrameError;
      /** The start of the skipped line, at most 4,096 bytes. Identifies the message, for example by its JSON-RPC id. */
      readonly start: string;
    };

export interface JsonLinesState extends StreamPosition {
  readonly maxLineBytes: number;
  readonly line: PendingBytes;
  lineOffset: number;
  /** True after the limit was exceeded. Further bytes of the line are discarded. */
  isTooLarge: boolean;
}

const DEFAULT_MAX_LINE_BYTES = 64 * 1024 * 1024;

/**
 * Splits newline-delimited JSON into lines. Only LF ends a line, because the other line separators of Unicode may occur
 * inside a JSON string.
 */
export function createJsonLinesDecoder(
  options: JsonLinesOptions = {},
): Codec<JsonLinesState, Uint8Array, JsonLinesItem> {
  const { maxLineBytes = DEFAULT_MAX_LINE_BYTES } = options;
  return {
    initial: () => ({
      offset: 0,
      head: EMPTY_HEAD,
      maxLineBytes,
      line: createPendingBytes(),
      lineOffset: 0,
      isTooLarge: false,
    }),
    step(state, chunk, emit) {
      const content = state.head === undefined ? chunk : stripByteOrderMark(state, chunk);
      readChunk(state, content, emit);
    },
    finish(state, emit) {
      readChunk(state, releaseHead(state), emit);
      // Writers may omit the last line end. The consumer finds out by parsing whether the line is complete.
      emitLine(state, peekPending(state.line), emit);
    },
  };
}

/** Encodes a value as one line. A value without a JSON form, such as undefined, becomes null, as inside an array. */
export function encodeJsonLine(value: unknown): string {
  const text: string | undefined = JSON.stringify(value);
  return `${text ?? "null"}\n`;
}

function readChunk(state: JsonLinesState, chunk: Uint8Array, emit: Emit<JsonLinesItem>): void {
  let at = 0;
  while (at < chunk.length) {
    if (state.line.length === 0) state.lineOffset = state.offset + at;
    const end = chunk.indexOf(LINE_FEED, at);
    if (end === -1) {
      appendPiece(state, chunk.subarray(at), emit);
      break;
    }
    endLine(state, chunk.subarray(at, end), emit);
    at = end + 1;
  }
  state.offset += chunk.length;
}

function appendPiece(state: JsonLinesState, piece: Uint8Array, emit: Emit<JsonLinesItem>): void {
  if (checkSize(state, piece, emit)) appendPending(state.line, piece, state.maxLineBytes);
}

function endLine(state: JsonLinesState, piece: Uint8Array, emit: Emit<JsonLinesItem>): void {
  if (checkSize(state, piece, emit)) {
    if (state.line.length === 0) return emitLine(state, piece, emit);
    appendPending(state.line, piece, state.maxLineBytes);
    emitLine(state, peekPending(state.line), emit);
  }
  clearPending(state.line);
  state.isTooLarge = false;
}

/** Returns whether the line may grow by this piece. Emits one failure when the line exceeds the limit. */
function checkSize(state: JsonLinesState, piece: Uint8Array, emit: Emit<JsonLinesItem>): boolean {
  const { line, lineOffset: offset, maxLineBytes } = state;
  if (!state.isTooLarge && line.length + piece.length > maxLineBytes) {
    state.isTooLarge = true;
    const first = line.length === 0 ? piece : peekPending(line);
    const start = utf8.decode(first.subarray(0, START_BYTES));
    clearPending(line);
    const message = `The line at byte ${offset} is longer than the limit of ${maxLineBytes} bytes`;
    emit({ type: "failure", error: new FrameError("line_too_large", message, { offset }), start });
  }
  return !state.isTooLarge;
}

function emitLine(state: JsonLinesState, bytes: Uint8Array, emit: Emit<JsonLinesItem>): void {
  const end = bytes.at(-1) === CARRIAGE_RETURN ? bytes.length - 1 : bytes.length;
  const text = utf8.decode(bytes.subarray(0, end));
  if (!BLANK.test(text)) emit({ type: "line", text, offset: state.lineOffset });
}

// A byte order mark inside the stream is text; the mark at the start was removed before.
const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
/** Bytes. Enough for the fields before the content of a message. */
const START_BYTES = 4096;
const BLANK = /^[ \t\r]*$/;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
