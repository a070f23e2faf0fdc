import type { Codec, Emit } from "../../domain/codec.ts";
import type { Diagnostic } from "../../domain/diagnostic.ts";
import { FrameChecksumError, FrameError, TruncatedStreamError } from "../../domain/errors.ts";
import { crc32, decodeHeaders, type HeaderBlock, type Headers } from "./eventstream-format.ts";

export interface EventStreamOptions {
  /** Bytes. A frame whose prelude announces more is refused before any allocation. Default: 24 MiB plus 128 KiB. */
  readonly maxFrameBytes?: number;
  /**
   * `lenient` skips a frame whose body is damaged and emits a `fault`; use this mode for captures. `strict` ends the
   * stream at the damaged frame, because a turn with missing content must not look complete. Default: `strict`.
   */
  readonly mode?: "strict" | "lenient";
}

export type EventStreamItem =
  | Frame
  /** Lenient mode only. `isLost` is true if the frame was skipped. */
  | {
      readonly type: "fault";
      readonly diagnostic: Diagnostic;
      readonly isLost: boolean;
      readonly offset: number;
    }
  /** The last item: no item follows a failure. */
  | { readonly type: "failure"; readonly error: FrameError };

export interface EventStreamState {
  /** The start of a frame whose end has not arrived yet. Only the first `partialLength` bytes are valid. */
  partial: Uint8Array;
  partialLength: number;
  /** Bytes of the stream before the current frame. */
  offset: number;
  ordinal: number;
  hasFailed: boolean;
  readonly maxFrameBytes: number;
  readonly isLenient: boolean;
  readonly recentHeaders: RecentHeaders;
}

/** The limits of botocore: 24 MiB of payload and 128 KiB of headers. */
const MAX_HEADER_BYTES = 128 * 1024;
const DEFAULT_MAX_FRAME_BYTES = 24 * 1024 * 1024 + MAX_HEADER_BYTES;
/** Bytes. A chunk is read in windows of this size to bound the string cached per window (see `Frame.text`). */
const WINDOW_BYTES = 1024 * 1024;
const PRELUDE_BYTES = 12;
const MIN_FRAME_BYTES = 16;
const INITIAL_PARTIAL_BYTES = 4096;

/** Creates a decoder for `application/vnd.amazon.eventstream`. */
export function createEventStreamDecoder(
  options: EventStreamOptions = {},
): Codec<EventStreamState, Uint8Array, EventStreamItem> {
  const { maxFrameBytes = DEFAULT_MAX_FRAME_BYTES, mode = "strict" } = options;
  return {
    initial: () => ({
      partial: NO_BYTES,
      partialLength: 0,
      offset: 0,
      ordinal: 0,
      hasFailed: false,
      maxFrameBytes,
      isLenient: mode === "lenient",
      recentHeaders: { blocks: [], next: 0 },
    }),
    step(state, chunk, emit) {
      for (let at = 0; at < chunk.length && !state.hasFailed; at += WINDOW_BYTES) {
        const window = chunk.length <= WINDOW_BYTES ? chunk : chunk.subarray(at, at + WINDOW_BYTES);
        const rest = completePartial(state, window, emit);
        if (rest < window.length && !state.hasFailed) readFrames(state, window, rest, emit);
      }
    },
    finish(state, emit) {
      const { hasFailed, partialLength: pendingBytes, offset, ordinal } = state;
      if (hasFailed || pendingBytes === 0) return;
      const message = `The stream ended inside frame ${ordinal}, ${pendingBytes} bytes after its start at byte ${offset}`;
      fail(state, new TruncatedStreamError(message, { offset, pendingBytes }), emit);
    },
    isOver: ({ hasFailed }) => hasFailed,
  };
}

/**
 * One frame: a view of the received bytes. Read `payload` and `text()` while the frame is handled, because the caller
 * may reuse its buffer afterwards.
 */
export class Frame {
  readonly type = "frame";
  readonly headers: Headers;
  /** Position of the first byte in the stream. */
  readonly offset: number;
  /** Number of the frame in the stream, from 0. */
  readonly ordinal: number;
  private readonly source: Source;
  private readonly start: number;
  private readonly end: number;

  constructor(facts: FrameFields) {
    this.headers = facts.headers;
    this.offset = facts.offset;
    this.ordinal = facts.ordinal;
    this.source = facts.source;
    this.start = facts.start;
    this.end = facts.end;
  }

  get payload(): Uint8Array {
    return this.source.bytes.subarray(this.start, this.end);
  }

  /** Decodes the payload as UTF-8. */
  text(): string {
    const { source, start, end } = this;
    if (end - start >= MIN_NATIVE_BYTES && decodeUtf8 !== undefined)
      return decodeUtf8(source, start, end);
    if (decodeLatin1 === undefined || !isAscii(source, start, end))
      return utf8.decode(this.payload);
    source.latin1 ??= decodeLatin1(source.bytes);
    return source.latin1.slice(start, end);
  }
}

interface FrameFields {
  readonly headers: Headers;
  readonly offset: number;
  readonly ordinal: number;
  readonly source: Source;
  readonly start: number;
  readonly end: number;
}

/** A buffer with frames, and the cached values for reading frames quickly. */
interface Source {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  /** All bytes decoded as Latin-1, one character per byte. Correct only for ranges of ASCII bytes. */
  latin1: string | undefined;
}

function createSource(bytes: Uint8Array): Source {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return { bytes, view, latin1: undefined };
}

/** Appends bytes of the chunk to the partial frame. Returns the number of consumed bytes. */
function completePartial(
  state: EventStreamState,
  chunk: Uint8Array,
  emit: Emit<EventStreamItem>,
): number {
  let consumedBytes = 0;
  while (state.partialLength > 0 && consumedBytes < chunk.length) {
    const hasPrelude = state.partialLength >= PRELUDE_BYTES;
    const expectedLength = hasPrelude
      ? createSource(state.partial).view.getUint32(0)
      : PRELUDE_BYTES;
    const part = chunk.subarray(
      consumedBytes,
      consumedBytes + expectedLength - state.partialLength,
    );
    appendPartial(state, part);
    consumedBytes += part.length;
    if (state.partialLength < expectedLength) break;
    const source = createSource(state.partial);
    if (!hasPrelude) {
      checkPrelude(state, source, 0, emit);
    } else {
      // The emitted frame is a view of this buffer, so the next partial frame needs a new buffer.
      state.partial = NO_BYTES;
      state.partialLength = 0;
      readFrame(state, source, 0, emit);
    }
  }
  return consumedBytes;
}

/** Grows with the received bytes, not with the announced length, so a forged length cannot cause a large allocation. */
function appendPartial(state: EventStreamState, part: Uint8Array): void {
  const length = state.partialLength + part.length;
  if (length > state.partial.length) {
    const grown = new Uint8Array(Math.max(length, 2 * state.partial.length, INITIAL_PARTIAL_BYTES));
    grown.set(state.partial.subarray(0, state.partialLength));
    state.partial = grown;
  }
  state.partial.set(part, state.partialLength);
  state.partialLength = length;
}

function readFrames(
  state: EventStreamState,
  chunk: Uint8Array,
  from: number,
  emit: Emit<EventStreamItem>,
): void {
  const source = createSource(chunk);
  let at = from;
  while (at + PRELUDE_BYTES <= chunk.length) {
    const total = checkPrelude(state, source, at, emit);
    if (state.hasFailed) return;
    if (at + total > chunk.length) break;
    readFrame(state, source, at, emit);
    if (state.hasFailed) return;
    at += total;
  }
  if (at < chunk.length) appendPartial(state, chunk.subarray(at));
}

/** Validates a prelude and returns the length of its frame. After a failure, the returned value is meaningless. */
function checkPrelude(
  state: EventStreamState,
  { bytes, view }: Source,
  at: number,
  emit: Emit<EventStreamItem>,
): number {
  const { offset, ordinal } = state;
  const total = view.getUint32(at);
  const headers = view.getUint32(at + 4);
  if (view.getUint32(at + 8) !== crc32(bytes, at, at + 8)) {
    const message = `The prelude of frame ${ordinal} at byte ${offset} does not match its checksum`;
    fail(state, new FrameChecksumError(message, { offset, ordinal }), emit);
  } else if (total < MIN_FRAME_BYTES || headers > total - MIN_FRAME_BYTES) {
    const message = `Frame ${ordinal} at byte ${offset} announces ${total} bytes with ${headers} bytes of headers: expected at least 16 bytes plus the headers`;
    fail(state, new FrameError("frame_invalid", message, { offset }), emit);
  } else if (headers > MAX_HEADER_BYTES) {
    const message = `Frame ${ordinal} at byte ${offset} announces ${headers} bytes of headers: expected at most ${MAX_HEADER_BYTES}`;
    fail(state, new FrameError("frame_too_large", message, { offset }), emit);
  } else if (total > state.maxFrameBytes) {
    const message = `Frame ${ordinal} at byte ${offset} announces ${total} bytes: expected at most ${state.maxFrameBytes}`;
    fail(state, new FrameError("frame_too_large", message, { offset }), emit);
  }
  return total;
}

/** Reads the complete frame at `at`. The caller has checked the prelude. */
function readFrame(
  state: EventStreamState,
  source: Source,
  at: number,
  emit: Emit<EventStreamItem>,
): void {
  const { offset, ordinal, isLenient } = state;
  const total = source.view.getUint32(at);
  const start = at + PRELUDE_BYTES + source.view.getUint32(at + 4);
  const end = at + total - 4;
  const block = readVerifiedHeaders(state, source, at);
  if (block instanceof FrameError) {
    if (!isLenient) return fail(state, block, emit);
    const code = block instanceof FrameChecksumError ? "checksum_mismatch" : "malformed_event";
    const diagnostic = { code, message: block.message, offset } as const;
    emit({ type: "fault", diagnostic, isLost: true, offset });
  } else {
    for (const name of block.duplicates) {
      const message = `Frame ${ordinal} at byte ${offset} has the header "${name}" more than once`;
      if (!isLenient)
        return fail(state, new FrameError("frame_invalid", message, { offset }), emit);
      const diagnostic = { code: "duplicate_header", message, offset } as const;
      emit({ type: "fault", diagnostic, isLost: false, offset });
    }
    emit(new Frame({ headers: block.headers, offset, ordinal, source, start, end }));
  }
  state.offset += total;
  state.ordinal += 1;
}

function readVerifiedHeaders(
  state: EventStreamState,
  source: Source,
  at: number,
): HeaderBlock | FrameError {
  const { bytes, view } = source;
  const end = at + view.getUint32(at) - 4;
  const preludeChecksum = view.getUint32(at + 8);
  if (view.getUint32(end) !== crc32(bytes, at + 8, end, preludeChecksum)) {
    const { offset, ordinal } = state;
    const message = `Frame ${ordinal} at byte ${offset} does not match its checksum`;
    return new FrameChecksumError(message, { offset, ordinal });
  }
  const start = at + PRELUDE_BYTES;
  return findHeaders(state, source, start, start + view.getUint32(at + 4));
}

/** A cache of recently decoded header blocks: a token stream repeats a few header blocks byte for byte. */
interface RecentHeaders {
  readonly blocks: { readonly view: DataView; readonly block: HeaderBlock }[];
  next: number;
}

const MAX_RECENT_HEADERS = 8;
const MAX_CACHED_HEADER_BYTES = 1024;

function findHeaders(
  state: EventStreamState,
  { bytes, view }: Source,
  start: number,
  end: number,
): HeaderBlock | FrameError {
  const { blocks, next } = state.recentHeaders;
  for (const cached of blocks) if (isSameBytes(cached.view, view, start, end)) return cached.block;
  const headerBytes = bytes.slice(start, end);
  const block = decodeHeaders(headerBytes, state.offset + PRELUDE_BYTES);
  if (!(block instanceof FrameError) && headerBytes.length <= MAX_CACHED_HEADER_BYTES) {
    blocks[next] = {
      view: new DataView(headerBytes.buffer, headerBytes.byteOffset, headerBytes.byteLength),
      block,
    };
    state.recentHeaders.next = (next + 1) % MAX_RECENT_HEADERS;
  }
  return block;
}

function fail(state: EventStreamState, error: FrameError, emit: Emit<EventStreamItem>): void {
  state.hasFailed = true;
  state.partial = NO_BYTES;
  state.partialLength = 0;
  emit({ type: "failure", error });
}

/** Compares four bytes at a time, at a third of the cost of a byte loop. */
function isSameBytes(cachedView: DataView, view: DataView, start: number, end: number): boolean {
  const length = cachedView.byteLength;
  if (length !== end - start) return false;
  let at = 0;
  for (; at + 4 <= length; at += 4) {
    if (cachedView.getInt32(at) !== view.getInt32(start + at)) return false;
  }
  for (; at < length; at++) if (cachedView.getUint8(at) !== view.getUint8(start + at)) return false;
  return true;
}

function isAscii({ view }: Source, start: number, end: number): boolean {
  let combinedBits = 0;
  let at = start;
  for (; at + 4 <= end; at += 4) combinedBits |= view.getInt32(at);
  for (; at < end; at++) combinedBits |= view.getUint8(at);
  return (combinedBits & 0x80808080) === 0;
}

const NO_BYTES = new Uint8Array(0);
const utf8 = new TextDecoder();

/** Bytes. From this size on, Node's decoder is faster than a scan for ASCII. */
const MIN_NATIVE_BYTES = 1024;
const BYTE_ORDER_MARK_START = 0xef;

/**
 * A Buffer keeps a byte order mark and a `TextDecoder` removes it, so text which may start with the mark takes the
 * slower path.
 */
const decodeUtf8 =
  typeof Buffer === "undefined"
    ? undefined
    : ({ bytes }: Source, start: number, end: number): string =>
        bytes[start] === BYTE_ORDER_MARK_START
          ? utf8.decode(bytes.subarray(start, end))
          : Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString("utf8");

/**
 * With Node's Buffer, a whole window becomes one string in a single copy, and the text of a frame is a slice of this
 * string: a tenth of the cost of one decoder call per frame. The Latin-1 decoder of `TextDecoder` is forty times slower
 * than this copy.
 */
const decodeLatin1 =
  typeof Buffer === "undefined"
    ? undefined
    : (bytes: Uint8Array): string =>
        Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
