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
