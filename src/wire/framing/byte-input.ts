/** The buffered start of a line or element whose end has not arrived yet. */
export interface PendingBytes {
  /** The buffer. Only its first `length` bytes are valid. */
  bytes: Uint8Array;
  length: number;
}

export function createPendingBytes(): PendingBytes {
  return { bytes: NO_BYTES, length: 0 };
}

/**
 * Appends a copy of `piece`. Copying lets the caller reuse its chunk buffer, and a few pending bytes never keep a large
 * chunk alive. The buffer doubles up to `limit` bytes, so the total cost stays linear however the input is split.
 */
export function appendPending(pending: PendingBytes, piece: Uint8Array, limit: number): void {
  const length = pending.length + piece.length;
  if (length > pending.bytes.length) {
    const requiredLength = Math.min(Math.max(2 * length, MIN_CAPACITY), limit);
    const grown = new Uint8Array(Math.max(requiredLength, length));
    grown.set(pending.bytes.subarray(0, pending.length));
    pending.bytes = grown;
  }
  pending.bytes.set(piece, pending.length);
  pending.length = length;
}

/** Returns the buffered bytes as a view. The next append may overwrite the view. */
export function peekPending(pending: PendingBytes): Uint8Array {
  return pending.bytes.subarray(0, pending.length);
}

/**
 * Discards the buffered bytes. A buffer above 64 KiB is released, so one long line does not occupy memory for the rest
 * of the stream.
 */
export function clearPending(pending: PendingBytes): void {
  pending.length = 0;
  if (pending.bytes.length > MAX_RETAINED_CAPACITY) pending.bytes = NO_BYTES;
}

const NO_BYTES = new Uint8Array(0);
const MIN_CAPACITY = 256;
const MAX_RETAINED_CAPACITY = 64 * 1024;

/** The position of a decoder in its stream. */
export interface StreamPosition {
  /** Bytes of the stream before the current chunk. */
  offset: number;
  /**
   * The first bytes of the stream, held back while they may be a partial byte order mark. Undefined after the decision.
   */
  head: Uint8Array | undefined;
}

/** The initial `head` of a stream: no bytes received. */
export const EMPTY_HEAD = new Uint8Array(0);

/** Returns the content of a chunk without a UTF-8 byte order mark at the start of the stream. */
export function stripByteOrderMark(position: StreamPosition, chunk: Uint8Array): Uint8Array {
  if (position.head === undefined) return chunk;
  const bytes = position.head.length === 0 ? chunk : concatBytes(position.head, chunk);
  const matched = countMarkBytes(bytes);
  if (matched === bytes.length && matched < MARK.length) {
    position.head = bytes.slice();
    return EMPTY_HEAD;
  }
  position.head = undefined;
  if (matched < MARK.length) return bytes;
  position.offset += MARK.length;
  return bytes.subarray(MARK.length);
}

/** Returns the bytes held back at the end of the stream. A partial byte order mark counts as content. */
export function releaseHead(position: StreamPosition): Uint8Array {
  const head = position.head ?? EMPTY_HEAD;
  position.head = undefined;
  return head;
}

function concatBytes(head: Uint8Array, chunk: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(head.length + chunk.length);
  bytes.set(head);
  bytes.set(chunk, head.length);
  return bytes;
}

function countMarkBytes(bytes: Uint8Array): number {
  let matched = 0;
  while (matched < MARK.length && bytes[matched] === MARK[matched]) matched += 1;
  return matched;
}

const MARK = [0xef, 0xbb, 0xbf] as const;
