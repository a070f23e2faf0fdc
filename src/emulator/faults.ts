import type { Clock } from "../platform/clock.ts";
import type { FailStep } from "./brains/step.ts";
import { crc32, encodeFrame } from "../wire/framing/eventstream-format.ts";
import { ConnectionReset } from "./service/service-types.ts";

/** How an answer is damaged on its way. Frames and bytes are counted from zero. */
export interface Faults {
  /** Sent in writes of so many bytes, with a wait between them. */
  readonly drip?: { readonly bytes: number; readonly milliseconds: number };
  /** Nothing more after so many frames, and no end either. */
  readonly silenceAfter?: number;
  /** The connection is reset once so many bytes of the body are sent. */
  readonly resetAtByte?: number;
  /** A bit of this frame's checksum is flipped. */
  readonly flipFrame?: number;
  /** The stream ends inside a frame, after so many bytes of it. */
  readonly truncate?: { readonly frame: number; readonly bytes: number };
  /** An exception takes the place of a frame and ends the stream. */
  readonly exception?: { readonly frame: number; readonly failure: FailStep };
  /** A frame of message type `error` takes the place of a frame and ends the stream. */
  readonly error?: { readonly frame: number; readonly code: string; readonly message?: string };
  /** What a frame says of its own length. */
  readonly prefix?: { readonly frame: number; readonly length: number };
  /** A frame without `:message-type`. */
  readonly untypedFrame?: number;
  /** The second call of a message gets the number of the first: `{0,A},{0,B},{1,C}`. */
  readonly reuseIndex?: boolean;
  /** Members of the stream that never come. */
  readonly omit?: readonly string[];
  /** The most characters of the padding member `p`. */
  readonly padding?: number;
  /** In place of the stream's own. */
  readonly contentType?: string;
}

/** What happens to one frame. After `end` and `silence` no other frame is sent. */
export type FrameFate =
  | { readonly type: "send"; readonly bytes: Uint8Array }
  | { readonly type: "end"; readonly bytes: Uint8Array }
  | { readonly type: "silence" };

/** Decides the fate of each frame in turn. `fail` writes a failure the way this stream does. */
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

/** The body as the client gets it: in drips, or with its connection reset. */
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

/** The prelude's own checksum is right, so that only the length is a lie. */
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
