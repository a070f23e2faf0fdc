import { FrameError, SpanlineError } from "../../domain/errors.ts";

/**
 * The value types of an event-stream header. The wire format has ten; its types for true and false are one type here.
 */
export type HeaderValue =
  | { readonly type: "boolean"; readonly value: boolean }
  | { readonly type: "byte" | "short" | "integer"; readonly value: number }
  | { readonly type: "long"; readonly value: bigint }
  | { readonly type: "binary"; readonly value: Uint8Array }
  | { readonly type: "string"; readonly value: string }
  /** Milliseconds since 1970. A bigint, because a `Date` cannot represent all 64 bits. */
  | { readonly type: "timestamp"; readonly value: bigint }
  | { readonly type: "uuid"; readonly value: string };

/** Headers by name, in wire order. */
export type Headers = ReadonlyMap<string, HeaderValue>;

export interface HeaderBlock {
  readonly headers: Headers;
  /** Names that occur more than once. The last value of each name is in `headers`. */
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
  /** Written in iteration order. */
  readonly headers: Iterable<readonly [string, HeaderValue]>;
  readonly payload: Uint8Array;
}

/**
 * Encodes one event-stream frame. Throws `frame_invalid` if a header does not fit the format: the name has 1 to 255
 * bytes, a string or binary value at most 65,535.
 */
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

/** Encodes one event as AWS services send events: the name is a header, the payload is JSON without the name. */
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

/** Encodes a modelled exception, the last frame of a failed stream. */
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
      `Header "${name}" has ${value.length} bytes: expected at most 65535`,
    );
  }
  return joinBytes([Uint8Array.of(type, value.length >> 8, value.length & 255), value]);
}

/**
 * Decodes a header block. `block` must contain the header block only, so no value can be read past its end. `offset` is
 * the position of the block in the stream and appears in error messages.
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

/**
 * Returns the size in bytes of the value after the type byte at `at`. Undefined if the type is unknown; Infinity if the
 * length field of the value is truncated.
 */
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

/** Decodes the value after the type byte at `at`. The caller has checked the size. */
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

/** Computes the checksum of event-stream frames (CRC-32/ISO-HDLC). */
export function crc32(bytes: Uint8Array, start: number, end: number, previous = 0): number {
  if (end - start < MIN_NATIVE_BYTES) return computeCrc32(bytes, start, end, previous);
  nativeImplementation ??= loadNativeCrc32() ?? computeCrc32;
  return nativeImplementation(bytes, start, end, previous);
}

type Crc32 = (bytes: Uint8Array, start: number, end: number, previous: number) => number;

/** Frames of a token stream have about 150 bytes; at this size the JavaScript loop is faster than a call into zlib. */
const MIN_NATIVE_BYTES = 1024;

/** Resolved when the first large frame arrives. A lookup at import time would cost every importer about 1 ms. */
let nativeImplementation: Crc32 | undefined;

/**
 * Returns zlib's `crc32` if the runtime is a Node version with this function. On large frames, zlib is ten times as
 * fast as the loop.
 */
function loadNativeCrc32(): Crc32 | undefined {
  const native = globalThis.process?.getBuiltinModule?.("node:zlib")?.crc32;
  return native && ((bytes, start, end, previous) => native(bytes.subarray(start, end), previous));
}

/** Processes eight bytes per iteration ("slicing by 8"). */
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

/** Table n is at offset n × 256: the contribution of a byte followed by n more bytes. */
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
