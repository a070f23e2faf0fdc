import { crc32 } from "./crc32.ts";
import { encodeHeaders, type HeaderValue } from "./eventstream-headers.ts";

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

const encoder = new TextEncoder();
