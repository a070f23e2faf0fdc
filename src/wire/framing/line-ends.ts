/** A chunk searched for line ends from front to back. */
export interface ScannedChunk {
  readonly bytes: Uint8Array;
  /**
   * Positions of the next CR and the next LF at or after the last search position. The length of the chunk if none
   * follows.
   */
  carriageReturn: number;
  lineFeed: number;
}

export function createScannedChunk(bytes: Uint8Array): ScannedChunk {
  return { bytes: toSearchableBytes(bytes), carriageReturn: -1, lineFeed: -1 };
}

/**
 * Returns the position of the next LF or CR, or the length of the chunk if none follows.
 *
 * Most bytes of a stream can belong to skipped lines, so this search dominates the cost. Both positions are cached: a
 * stream with only one kind of line end is searched once for the other kind.
 */
export function findLineEnd(chunk: ScannedChunk, from: number): number {
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

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
