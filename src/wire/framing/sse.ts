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
  type PendingBytes,
} from "./byte-input.ts";
import {
  clearEvent,
  readComment,
  findDataStart,
  dispatchEvent,
  isDataLine,
  createPendingEvent,
  readField,
  type Line,
  type PendingEvent,
  type SseEvent,
} from "./sse-event.ts";

export interface SseOptions {
  /**
   * Bytes of all lines of one event together. A larger event is dropped with a failure item. Default: 16 MiB plus 64
   * KiB.
   */
  readonly maxEventBytes?: number;
  /**
   * Decides from the first bytes of a data line's value (up to 64) whether to skip the event. The remainder of the line
   * is then neither buffered nor decoded. `start` is valid only during the call.
   */
  readonly skip?: (start: Uint8Array) => boolean;
}

export type SseItem =
  | SseEvent
  /** Comments also prove a live connection: servers send comments to keep a silent connection open. */
  | { readonly type: "comment"; readonly text: string; readonly offset: number }
  /** A refused data line, with the preceding lines of its event. */
  | { readonly type: "skipped"; readonly bytes: number; readonly offset: number }
  | { readonly type: "failure"; readonly error: FrameError };

export interface SseState extends StreamPosition {
  readonly maxEventBytes: number;
  readonly skip: SseOptions["skip"];
  readonly line: PendingLine;
  readonly event: PendingEvent;
  /** The last line ended with CR, so a following LF belongs to the same line end. */
  afterCarriageReturn: boolean;
}

interface PendingLine {
  offset: number;
  /** Bytes of the line received so far, buffered or not. */
  length: number;
  readonly pendingBytes: PendingBytes;
  /** `refused` and `dropped` lines are not buffered: `skip` refused the line, or the event exceeds the size limit. */
  disposition: "undecided" | "accepted" | "refused" | "dropped";
}

/**
 * Creates a decoder for event streams as defined by the HTML standard (section 9.2). In addition, the decoder reports
 * comments, skipped lines and truncated events, which the standard ignores.
 */
export function createSseDecoder(options: SseOptions = {}): Codec<SseState, Uint8Array, SseItem> {
  const { maxEventBytes = DEFAULT_MAX_EVENT_BYTES, skip } = options;
  return {
    initial: () => ({
      offset: 0,
      head: EMPTY_HEAD,
      maxEventBytes,
      skip,
      line: { offset: 0, length: 0, pendingBytes: createPendingBytes(), disposition: "undecided" },
      event: createPendingEvent(),
      afterCarriageReturn: false,
    }),
    step(state, chunk, emit) {
      readChunk(state, stripByteOrderMark(state, chunk), emit);
    },
    finish(state, emit) {
      readChunk(state, releaseHead(state), emit);
      endStream(state, emit);
    },
  };
}

function readChunk(state: SseState, chunk: Uint8Array, emit: Emit<SseItem>): void {
  const lines = createScannedChunk(chunk);
  let at = 0;
  while (at < chunk.length) {
    if (state.afterCarriageReturn) {
      state.afterCarriageReturn = false;
      if (chunk[at] === LINE_FEED) {
        at += 1;
        continue;
      }
    }
    const end = findLineEnd(lines, at);
    if (state.line.length === 0) state.line.offset = state.offset + at;
    if (end === chunk.length) {
      appendPiece(state, chunk.subarray(at), emit);
      break;
    }
    endLine(state, { bytes: chunk, start: at, end }, emit);
    state.afterCarriageReturn = chunk[end] === CARRIAGE_RETURN;
    at = end + 1;
  }
  state.offset += chunk.length;
}

/** Appends a piece of a line whose end has not arrived yet. */
function appendPiece(state: SseState, piece: Uint8Array, emit: Emit<SseItem>): void {
  const { line } = state;
  let remainingBytes = piece;
  if (line.disposition === "undecided") {
    const start = piece.subarray(0, DECISION_BYTES - line.pendingBytes.length);
    remainingBytes = piece.subarray(start.length);
    bufferPiece(state, start, emit);
    if (line.pendingBytes.length === DECISION_BYTES)
      decideDisposition(state, viewPendingLine(line), emit);
  }
  if (line.disposition === "accepted") bufferPiece(state, remainingBytes, emit);
  line.length += piece.length;
}

function bufferPiece(state: SseState, piece: Uint8Array, emit: Emit<SseItem>): void {
  const { pendingBytes } = state.line;
  if (isTooLarge(state, pendingBytes.length + piece.length)) dropEvent(state, emit);
  else appendPending(pendingBytes, piece, state.maxEventBytes);
}

function viewPendingLine({ pendingBytes }: PendingLine): Line {
  return { bytes: pendingBytes.bytes, start: 0, end: pendingBytes.length };
}

/**
 * Decides from the start of a line, or from the complete line, whether to buffer the line. The size of the start is
 * checked first, so the result does not depend on how the line was split into chunks.
 */
function decideDisposition(state: SseState, start: Line, emit: Emit<SseItem>): void {
  const length = start.end - start.start;
  if (isTooLarge(state, Math.min(length, DECISION_BYTES))) dropEvent(state, emit);
  else if (shouldSkip(state, start)) skipEvent(state);
  else if (isTooLarge(state, length)) dropEvent(state, emit);
  else state.line.disposition = "accepted";
}

function isTooLarge(state: SseState, lineBytes: number): boolean {
  return state.event.bytes + lineBytes > state.maxEventBytes;
}

/** One refused line skips the whole event: an event with a missing line must not look complete. */
function shouldSkip({ skip, event }: SseState, start: Line): boolean {
  if (skip === undefined || !isDataLine(start)) return false;
  if (event.isSkipped) return true;
  const from = findDataStart(start);
  return skip(start.bytes.subarray(from, Math.min(from + SKIP_START_BYTES, start.end)));
}

function skipEvent({ line, event }: SseState): void {
  event.offset ??= line.offset;
  event.isSkipped = true;
  event.data = undefined;
  line.disposition = "refused";
  clearPending(line.pendingBytes);
}

function dropEvent({ line, event, maxEventBytes }: SseState, emit: Emit<SseItem>): void {
  const offset = (event.offset ??= line.offset);
  event.isDropped = true;
  event.data = undefined;
  line.disposition = "dropped";
  clearPending(line.pendingBytes);
  const message = `The event at byte ${offset} is larger than the limit of ${maxEventBytes} bytes`;
  emit({ type: "failure", error: new FrameError("event_too_large", message, { offset }) });
}

/** Appends the last piece of a line: the whole line if the line is inside one chunk. */
function endLine(state: SseState, piece: Line, emit: Emit<SseItem>): void {
  const { line, event } = state;
  let wholeLine = piece;
  if (line.length === 0) line.length = piece.end - piece.start;
  else {
    appendPiece(state, piece.bytes.subarray(piece.start, piece.end), emit);
    wholeLine = viewPendingLine(line);
  }
  if (line.disposition === "undecided") decideDisposition(state, wholeLine, emit);
  if (line.disposition === "accepted") readLine(state, wholeLine, emit);
  else if (line.disposition === "refused") reportSkipped(state, emit);
  else if (line.length === 0) clearEvent(event);
  clearPending(line.pendingBytes);
  line.length = 0;
  line.disposition = event.isDropped ? "dropped" : "undecided";
}

function readLine({ line, event }: SseState, wholeLine: Line, emit: Emit<SseItem>): void {
  if (line.length === 0) dispatchEvent(event, emit);
  else if (wholeLine.bytes[wholeLine.start] === COLON) {
    emit({ type: "comment", text: readComment(wholeLine), offset: line.offset });
  } else {
    event.offset ??= line.offset;
    event.bytes += line.length;
    readField(event, wholeLine);
  }
}

function reportSkipped({ line, event }: SseState, emit: Emit<SseItem>): void {
  const offset = event.offset ?? line.offset;
  emit({ type: "skipped", bytes: line.offset + line.length - offset, offset });
  event.offset = undefined;
}

/**
 * Emits a last event without its final blank line if its data is complete. Any other remainder is reported as
 * truncated.
 */
function endStream(state: SseState, emit: Emit<SseItem>): void {
  const { line, event } = state;
  const offset = event.offset ?? (line.length > 0 ? line.offset : undefined);
  if (offset === undefined) return;
  if (isComplete(state)) {
    if (line.length > 0) endLine(state, EMPTY_LINE, emit);
    dispatchEvent(event, emit);
    return;
  }
  const pendingBytes = state.offset - offset;
  const message = `The stream ended inside an event, ${pendingBytes} bytes after its start at byte ${offset}`;
  emit({ type: "failure", error: new TruncatedStreamError(message, { offset, pendingBytes }) });
}

/** Returns whether the data cannot be a prefix of longer data. An unterminated last line must be a data line. */
function isComplete({ line, event }: SseState): boolean {
  const completeEvent: PendingEvent = { ...event };
  if (line.length > 0) {
    const last = viewPendingLine(line);
    if (!isDataLine(last)) return false;
    readField(completeEvent, last);
  }
  return completeEvent.data !== undefined && isSelfDelimiting(completeEvent.data);
}

function isSelfDelimiting(data: string): boolean {
  try {
    const value: unknown = JSON.parse(data);
    return typeof value !== "number";
  } catch {
    return false;
  }
}

/** 16 MiB of data plus 64 KiB for field names. The service sends up to 10 MB in one event. */
const DEFAULT_MAX_EVENT_BYTES = 16 * 1024 * 1024 + 64 * 1024;
const SKIP_START_BYTES = 64;
/** Bytes: `data: ` and the value bytes passed to `skip`. */
const DECISION_BYTES = 6 + SKIP_START_BYTES;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const COLON = 0x3a;
const EMPTY_LINE: Line = { bytes: new Uint8Array(0), start: 0, end: 0 };

/** A chunk searched for line ends from front to back. */
interface ScannedChunk {
  readonly bytes: Uint8Array;
  /**
   * Positions of the next CR and the next LF at or after the last search position. The length of the chunk if none
   * follows.
   */
  carriageReturn: number;
  lineFeed: number;
}

function createScannedChunk(bytes: Uint8Array): ScannedChunk {
  return { bytes: toSearchableBytes(bytes), carriageReturn: -1, lineFeed: -1 };
}

/**
 * Returns the position of the next LF or CR, or the length of the chunk if none follows.
 *
 * Most bytes of a stream can belong to skipped lines, so this search dominates the cost. Both positions are cached: a
 * stream with only one kind of line end is searched once for the other kind.
 */
function findLineEnd(chunk: ScannedChunk, from: number): number {
  const { bytes } = chunk;
  if (chunk.carriageReturn < from)
    chunk.carriageReturn = findIndexOrEnd(bytes, CARRIAGE_RETURN, from);
  if (chunk.lineFeed < from) chunk.lineFeed = findIndexOrEnd(bytes, LINE_FEED, from);
  return Math.min(chunk.lineFeed, chunk.carriageReturn);
}

function findIndexOrEnd(bytes: Uint8Array, byte: number, from: number): number {
  const at = bytes.indexOf(byte, from);
  return at === -1 ? bytes.length : at;
}

/**
 * Wraps the same memory in a Node Buffer if available: `Buffer.indexOf` is twenty times as fast as
 * `Uint8Array.indexOf`.
 */
function toSearchableBytes(bytes: Uint8Array): Uint8Array {
  if (typeof Buffer === "undefined") return bytes;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
