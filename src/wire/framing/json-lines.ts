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
  /** A longer line is passed over. */
  readonly maxLineBytes?: number;
}

export type JsonLinesItem =
  | { readonly type: "line"; readonly text: string; readonly offset: number }
  | {
      readonly type: "failure";
      readonly error: FrameError;
      /** The first characters of the line that was skipped. */
      readonly start: string;
    };

export interface JsonLinesState extends StreamPosition {
  readonly maxLineBytes: number;
  readonly line: PendingBytes;
  lineOffset: number;
  /** The line at hand is too large; nothing more of it is kept. */
  isTooLarge: boolean;
}

const DEFAULT_MAX_LINE_BYTES = 64 * 1024 * 1024;

/** Splits newline-delimited JSON. Only LF ends a line: the other line ends of Unicode may stand inside a JSON string. */
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
      // Writers leave out the last line end; whether the line is whole is for the reader of its JSON to say.
      emitLine(state, peekPending(state.line), emit);
    },
  };
}

/** One value as one line. A value that JSON has no word for becomes null, as it does inside an array. */
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

/** Whether the line may take this piece. Says so once when it may not. */
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

// A mark inside the stream is text; the one at its start never comes here.
const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
/** Enough for the members that stand before the content of a message. */
const START_BYTES = 4096;
const BLANK = /^[ \t\r]*$/;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
