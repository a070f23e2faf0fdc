/** The start of a line or an element whose end has not come yet. */
export interface PendingBytes {
  /** Room; only the first `length` bytes count. */
  bytes: Uint8Array;
  length: number;
}

export function createPendingBytes(): PendingBytes {
  return { bytes: NO_BYTES, length: 0 };
}

/**
 * Copies, so that a caller may reuse its chunks and a few bytes never keep a large chunk alive; grows by doubling up to
 * `limit`, so that the cost is linear however the bytes are cut.
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

/** The bytes so far, as a view that the next append may overwrite. */
export function peekPending(pending: PendingBytes): Uint8Array {
  return pending.bytes.subarray(0, pending.length);
}

/** Forgets the bytes. Large room is given back: one long line must not weigh on a stream for the rest of its life. */
export function clearPending(pending: PendingBytes): void {
  pending.length = 0;
  if (pending.bytes.length > MAX_RETAINED_CAPACITY) pending.bytes = NO_BYTES;
}

const NO_BYTES = new Uint8Array(0);
const MIN_CAPACITY = 256;
const MAX_RETAINED_CAPACITY = 64 * 1024;

/** Where a decoder is in its stream. */
export interface StreamPosition {
  /** Bytes of the stream before the ones at hand. */
  offset: number;
  /** The first bytes, held back while they may be part of a byte order mark; undefined once that is settled. */
  head: Uint8Array | undefined;
}

/** The `head` of a stream of which nothing has come. */
export const EMPTY_HEAD = new Uint8Array(0);

/** The content of a chunk: everything but a UTF-8 byte order mark at the very start of the stream. */
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

/** What was held back when the stream ended: content after all. */
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
