/** A chunk in which line ends are looked for, from front to back. */
export interface ScannedChunk {
  readonly bytes: Uint8Array;
  /** The next CR and the next LF at or behind the last place that was asked for; the chunk's length when there is none. */
  carriageReturn: number;
  lineFeed: number;
}

export function createScannedChunk(bytes: Uint8Array): ScannedChunk {
  return { bytes: toSearchableBytes(bytes), carriageReturn: -1, lineFeed: -1 };
}

/**
 * Finds the next LF or CR; the length of the chunk when there is none.
 *
 * Most bytes of a stream can be lines that nobody wants, so this search is most of the work. Both places are kept:
 * a stream that has only one kind of line end is searched once for the other.
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

/** The same memory as Node's Buffer, where there is one: its `indexOf` is twenty times that of a Uint8Array. */
function toSearchableBytes(bytes: Uint8Array): Uint8Array {
  if (typeof Buffer === "undefined") return bytes;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
