import type { Clock } from "../platform/clock.ts";
import type { FailStep } from "./brains/step.ts";
import { crc32, encodeFrame } from "../wire/framing/eventstream-format.ts";
import { ConnectionReset } from "./service/service-types.ts";

/** Damage to a response. Frames and bytes are counted from zero. */
export interface Faults {
  /** Sends the response in writes of `bytes` bytes, with a delay between them. */
  readonly drip?: { readonly bytes: number; readonly milliseconds: number };
  /** Sends no more data after this number of frames, and does not end the stream. */
  readonly silenceAfter?: number;
  /** Resets the connection after this number of body bytes. */
  readonly resetAtByte?: number;
  /** Flips a bit in the checksum of this frame. */
  readonly flipFrame?: number;
  /** Ends the stream inside a frame, after this number of its bytes. */
  readonly truncate?: { readonly frame: number; readonly bytes: number };
  /** Replaces a frame by an exception and ends the stream. */
  readonly exception?: { readonly frame: number; readonly failure: FailStep };
  /** Replaces a frame by a frame of message type `error` and ends the stream. */
  readonly error?: { readonly frame: number; readonly code: string; readonly message?: string };
  /** Replaces the length in the prelude of a frame. */
  readonly prefix?: { readonly frame: number; readonly length: number };
  /** Removes `:message-type` from this frame. */
  readonly untypedFrame?: number;
  /** Gives the second tool call of a message the block number of the first: `{0,A},{0,B},{1,C}`. */
  readonly reuseIndex?: boolean;
  /** Names of stream events that are left out. */
  readonly omit?: readonly string[];
  /** The maximum length of the padding member `p`, in characters. */
  readonly padding?: number;
  /** Replaces the content type of the stream. */
  readonly contentType?: string;
}

/** The effect on a frame. After `end` and `silence` no other frame is sent. */
export type FrameFate =
  | { readonly type: "send"; readonly bytes: Uint8Array }
  | { readonly type: "end"; readonly bytes: Uint8Array }
  | { readonly type: "silence" };

/** Decides the effect on each frame in order. `fail` encodes a failure in the format of the stream. */
export function createFrameFaults(
  faults: Faults,
  fail: (failure: FailStep) => Uint8Array,
): (frame: Uint8Array) => FrameFate {
  let ordinal = -1;
  return (frame) => {
    ordinal += 1;
    if (faults.silenceAfter === ordinal) return { type: "silence" };
    if (faults.exception?.frame === ordinal) {
      return { type: "end", bytes: fail(faults.exception.failure) };
    }
    if (faults.error?.frame === ordinal)
      return { type: "end", bytes: encodeErrorFrame(faults.error) };
    if (faults.truncate?.frame === ordinal) {
      return { type: "end", bytes: frame.slice(0, faults.truncate.bytes) };
    }
    if (faults.prefix?.frame === ordinal) {
      return { type: "send", bytes: replaceLength(frame, faults.prefix.length) };
    }
    if (faults.flipFrame === ordinal) return { type: "send", bytes: flipChecksum(frame) };
    if (faults.untypedFrame === ordinal) {
      return { type: "send", bytes: encodeFrame({ headers: [], payload: frame }) };
    }
    return { type: "send", bytes: frame };
  };
}

/** Applies the faults on bytes: slow writes and a reset connection. */
export async function* damageBytes(
  body: AsyncIterable<Uint8Array>,
  faults: Faults,
  clock: Clock,
): AsyncGenerator<Uint8Array> {
  let sentBytes = 0;
  for await (const chunk of body) {
    const size = faults.drip?.bytes ?? chunk.length;
    for (let at = 0; at < chunk.length; at += size) {
      const remaining = (faults.resetAtByte ?? Infinity) - sentBytes;
      const piece = chunk.subarray(at, Math.min(at + size, at + remaining));
      if (piece.length > 0) yield piece;
      sentBytes += piece.length;
      if (faults.resetAtByte !== undefined && sentBytes >= faults.resetAtByte)
        throw createReset(sentBytes);
      await waitFor(clock, faults.drip?.milliseconds ?? 0);
    }
    if (faults.resetAtByte === 0) throw createReset(0);
  }
}

function createReset(sentBytes: number): ConnectionReset {
  return new ConnectionReset(`The script resets the connection after ${sentBytes} bytes`);
}

async function waitFor(clock: Clock, milliseconds: number): Promise<void> {
  if (milliseconds > 0) {
    await new Promise<void>((resolve) => {
      clock.schedule(milliseconds, resolve);
    });
  }
}

function encodeErrorFrame({ code, message }: NonNullable<Faults["error"]>): Uint8Array {
  return encodeFrame({
    headers: [
      [":message-type", { type: "string", value: "error" }],
      [":error-code", { type: "string", value: code }],
      ...(message === undefined
        ? []
        : [[":error-message", { type: "string", value: message }] as const]),
    ],
    payload: new Uint8Array(),
  });
}

/** Recomputes the checksum of the prelude, so only the length is wrong. */
function replaceLength(frame: Uint8Array, length: number): Uint8Array {
  const copy = frame.slice();
  const view = new DataView(copy.buffer);
  view.setUint32(0, length);
  view.setUint32(8, crc32(copy, 0, 8));
  return copy;
}

function flipChecksum(frame: Uint8Array): Uint8Array {
  const copy = frame.slice();
  const last = copy.length - 1;
  copy[last] = (copy[last] ?? 0) ^ 1;
  return copy;
}
