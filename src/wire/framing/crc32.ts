/** The checksum of event-stream frames (CRC-32 as in ISO-HDLC). */
export function crc32(bytes: Uint8Array, start: number, end: number, previous = 0): number {
  if (end - start < MIN_NATIVE_BYTES) return computeCrc32(bytes, start, end, previous);
  nativeImplementation ??= loadNativeCrc32() ?? computeCrc32;
  return nativeImplementation(bytes, start, end, previous);
}

type Crc32 = (bytes: Uint8Array, start: number, end: number, previous: number) => number;

/** Frames of a token stream are about 150 bytes; at that size a loop beats a call into zlib. */
const MIN_NATIVE_BYTES = 1024;

/** Found when the first large frame comes: looking for it at import would cost every importer a millisecond. */
let nativeImplementation: Crc32 | undefined;

/** Node's own, where this runs in a Node that has it: ten times as fast on large frames. */
function loadNativeCrc32(): Crc32 | undefined {
  const native = globalThis.process?.getBuiltinModule?.("node:zlib")?.crc32;
  return native && ((bytes, start, end, previous) => native(bytes.subarray(start, end), previous));
}

/** Eight bytes a round. */
function computeCrc32(bytes: Uint8Array, start: number, end: number, previous: number): number {
  let crc = ~previous;
  let at = start;
  for (const last = end - 8; at <= last; at += 8) {
    crc =
      (TABLES[1792 + ((crc ^ readByte(bytes, at)) & 255)] as number) ^
      (TABLES[1536 + (((crc >>> 8) ^ readByte(bytes, at + 1)) & 255)] as number) ^
      (TABLES[1280 + (((crc >>> 16) ^ readByte(bytes, at + 2)) & 255)] as number) ^
      (TABLES[1024 + ((crc >>> 24) ^ readByte(bytes, at + 3))] as number) ^
      (TABLES[768 + readByte(bytes, at + 4)] as number) ^
      (TABLES[512 + readByte(bytes, at + 5)] as number) ^
      (TABLES[256 + readByte(bytes, at + 6)] as number) ^
      (TABLES[readByte(bytes, at + 7)] as number);
  }
  for (; at < end; at++) {
    crc = (TABLES[(crc ^ readByte(bytes, at)) & 255] as number) ^ (crc >>> 8);
  }
  return ~crc >>> 0;
}

/** Table n at offset n × 256: the effect of a byte that has n more bytes behind it. */
const TABLES = /* @__PURE__ */ buildTables();

function buildTables(): Int32Array {
  const tables = new Int32Array(8 * 256);
  for (let index = 0; index < 256; index++) {
    let value = index;
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
    tables[index] = value;
  }
  for (let index = 256; index < tables.length; index++) {
    const previousEntry = tables[index - 256] as number;
    tables[index] = (tables[previousEntry & 255] as number) ^ (previousEntry >>> 8);
  }
  return tables;
}

function readByte(bytes: Uint8Array, at: number): number {
  return bytes[at] as number;
}
