import { FrameError, SpanlineError } from "../../domain/errors.ts";

/** The ten value types of an event-stream header; the two booleans are one here. */
export type HeaderValue =
  | { readonly type: "boolean"; readonly value: boolean }
  | { readonly type: "byte" | "short" | "integer"; readonly value: number }
  | { readonly type: "long"; readonly value: bigint }
  | { readonly type: "binary"; readonly value: Uint8Array }
  | { readonly type: "string"; readonly value: string }
  /** Milliseconds since 1970. Not a `Date`, which cannot hold all 64 bits. */
  | { readonly type: "timestamp"; readonly value: bigint }
  | { readonly type: "uuid"; readonly value: string };

/** In wire order. */
export type Headers = ReadonlyMap<string, HeaderValue>;

export interface HeaderBlock {
  readonly headers: Headers;
  /** Names that occur more than once; the last value is the one kept. */
  readonly duplicates: readonly string[];
}

const TRUE = 0;
const FALSE = 1;
const BYTE = 2;
const SHORT = 3;
const INTEGER = 4;
const LONG = 5;
const BINARY = 6;
const STRING = 7;
const TIMESTAMP = 8;
const UUID = 9;

export interface FrameToEncode {
  /** Written in the order given. */
  readonly headers: Iterable<readonly [string, HeaderValue]>;
  readonly payload: Uint8Array;
}

/** Encodes one event-stream frame. Throws on headers that the format cannot hold. */
export function encodeFrame(frame: FrameToEncode): Uint8Array {
  const headers = encodeHeaders(frame.headers);
  const total = 16 + headers.length + frame.payload.length;
  const bytes = new Uint8Array(total);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, total);
  view.setUint32(4, headers.length);
  view.setUint32(8, crc32(bytes, 0, 8));
  bytes.set(headers, 12);
  bytes.set(frame.payload, 12 + headers.length);
  view.setUint32(total - 4, crc32(bytes, 0, total - 4));
  return bytes;
}

/** Encodes one event as AWS services send it: the name in a header, the payload as JSON without it. */
export function encodeEvent(name: string, payload: unknown): Uint8Array {
  return encodeFrame({
    headers: [
      [":event-type", { type: "string", value: name }],
      [":content-type", { type: "string", value: "application/json" }],
      [":message-type", { type: "string", value: "event" }],
    ],
    payload: encoder.encode(JSON.stringify(payload)),
  });
}

/** Encodes a modelled exception, the last frame of a stream that failed. */
export function encodeException(name: string, payload: unknown): Uint8Array {
  return encodeFrame({
    headers: [
      [":exception-type", { type: "string", value: name }],
      [":content-type", { type: "string", value: "application/json" }],
      [":message-type", { type: "string", value: "exception" }],
    ],
    payload: encoder.encode(JSON.stringify(payload)),
  });
}

function encodeHeaders(headers: Iterable<readonly [string, HeaderValue]>): Uint8Array {
  const parts: Uint8Array[] = [];
  for (const [name, value] of headers) {
    const nameBytes = encoder.encode(name);
    if (nameBytes.length === 0 || nameBytes.length > 255) {
      throw new SpanlineError("frame_invalid", `Header name "${name}" is not 1 to 255 bytes long`);
    }
    parts.push(Uint8Array.of(nameBytes.length), nameBytes, encodeValue(name, value));
  }
  return joinBytes(parts);
}

function encodeValue(name: string, header: HeaderValue): Uint8Array {
  switch (header.type) {
    case "boolean":
      return Uint8Array.of(header.value ? TRUE : FALSE);
    case "byte":
      return encodeFixedValue(BYTE, 1, (view) => view.setInt8(1, header.value));
    case "short":
      return encodeFixedValue(SHORT, 2, (view) => view.setInt16(1, header.value));
    case "integer":
      return encodeFixedValue(INTEGER, 4, (view) => view.setInt32(1, header.value));
    case "long":
      return encodeFixedValue(LONG, 8, (view) => view.setBigInt64(1, header.value));
    case "timestamp":
      return encodeFixedValue(TIMESTAMP, 8, (view) => view.setBigInt64(1, header.value));
    case "binary":
      return encodeSizedValue(name, BINARY, header.value);
    case "string":
      return encodeSizedValue(name, STRING, encoder.encode(header.value));
    case "uuid":
      return joinBytes([Uint8Array.of(UUID), parseUuid(name, header.value)]);
    default:
      return header satisfies never;
  }
}

function encodeFixedValue(type: number, size: number, write: (view: DataView) => void): Uint8Array {
  const bytes = new Uint8Array(1 + size);
  bytes[0] = type;
  write(new DataView(bytes.buffer));
  return bytes;
}

function encodeSizedValue(name: string, type: number, value: Uint8Array): Uint8Array {
  if (value.length > 0xffff) {
    throw new SpanlineError(
      "frame_invalid",
      `Header "${name}" holds ${value.length} bytes, at most 65535 fit`,
    );
  }
  return joinBytes([Uint8Array.of(type, value.length >> 8, value.length & 255), value]);
}

/**
 * Reads a header block. `block` must be exactly the block, so that no value can reach past it;
 * `offset` is its place in the stream, for error messages.
 */
export function decodeHeaders(block: Uint8Array, offset: number): HeaderBlock | FrameError {
  const view = new DataView(block.buffer, block.byteOffset, block.byteLength);
  const headers = new Map<string, HeaderValue>();
  const duplicates: string[] = [];
  let at = 0;
  while (at < block.length) {
    const nameEnd = at + 1 + view.getUint8(at);
    if (nameEnd >= block.length) return createOverrunError("name", offset + at);
    const name = utf8.decode(block.subarray(at + 1, nameEnd));
    const size = readValueSize(view, nameEnd);
    if (size === undefined) {
      const type = view.getUint8(nameEnd);
      return new FrameError(
        "frame_invalid",
        `Header "${name}" has the unknown type ${type} at byte ${offset + nameEnd}`,
        { offset: offset + nameEnd },
      );
    }
    const end = nameEnd + 1 + size;
    if (end > block.length) return createOverrunError(`value of "${name}"`, offset + nameEnd);
    if (headers.has(name)) duplicates.push(name);
    headers.set(name, readValue(block, view, nameEnd));
    at = end;
  }
  return { headers, duplicates };
}

/** Bytes of the value behind the type byte at `at`; undefined when the type is unknown, Infinity when it is cut. */
function readValueSize(view: DataView, at: number): number | undefined {
  switch (view.getUint8(at)) {
    case TRUE:
    case FALSE:
      return 0;
    case BYTE:
      return 1;
    case SHORT:
      return 2;
    case INTEGER:
      return 4;
    case LONG:
    case TIMESTAMP:
      return 8;
    case BINARY:
    case STRING:
      return at + 3 <= view.byteLength ? 2 + view.getUint16(at + 1) : Infinity;
    case UUID:
      return 16;
    default:
      return undefined;
  }
}

/** The value behind the type byte at `at`; its size has been checked. */
function readValue(block: Uint8Array, view: DataView, at: number): HeaderValue {
  const type = view.getUint8(at);
  const start = at + 1;
  switch (type) {
    case BYTE:
      return { type: "byte", value: view.getInt8(start) };
    case SHORT:
      return { type: "short", value: view.getInt16(start) };
    case INTEGER:
      return { type: "integer", value: view.getInt32(start) };
    case LONG:
      return { type: "long", value: view.getBigInt64(start) };
    case BINARY:
      return { type: "binary", value: block.slice(start + 2, start + 2 + view.getUint16(start)) };
    case STRING:
      return {
        type: "string",
        value: utf8.decode(block.subarray(start + 2, start + 2 + view.getUint16(start))),
      };
    case TIMESTAMP:
      return { type: "timestamp", value: view.getBigInt64(start) };
    case UUID:
      return { type: "uuid", value: formatUuid(block.subarray(start, start + 16)) };
    default:
      return { type: "boolean", value: type === TRUE };
  }
}

function formatUuid(bytes: Uint8Array): string {
  const hex = [...bytes].map((value) => value.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

function parseUuid(name: string, value: string): Uint8Array {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value)) {
    throw new SpanlineError("frame_invalid", `Header "${name}" is not a UUID: "${value}"`);
  }
  const hex = value.replaceAll("-", "");
  return Uint8Array.from({ length: 16 }, (_, index) =>
    parseInt(hex.slice(index * 2, index * 2 + 2), 16),
  );
}

function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((total, part) => total + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

function createOverrunError(part: string, offset: number): FrameError {
  return new FrameError(
    "frame_invalid",
    `A header's ${part} at byte ${offset} runs past the header block`,
    { offset },
  );
}

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

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
const encoder = new TextEncoder();
