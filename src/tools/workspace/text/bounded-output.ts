import { pluralize } from "../../../text/pluralize.ts";
/** Stores the beginning and the end of an output of any length. The middle is counted and dropped. */
export interface BoundedOutput {
  add(bytes: Uint8Array): void;
  readonly length: number;
  /** The stored text, with a note about omitted bytes. */
  text(): string;
}

export function createBoundedOutput(limit: number): BoundedOutput {
  const half = Math.floor(limit / 2);
  const head = Buffer.alloc(half);
  let headLength = 0;
  // A ring buffer for the end of the output.
  const tail = Buffer.alloc(limit - half);
  let tailAt = 0;
  let length = 0;
  const addTail = (bytes: Uint8Array): void => {
    let remaining = bytes.subarray(Math.max(0, bytes.length - tail.length));
    while (remaining.length > 0) {
      const piece = remaining.subarray(0, tail.length - tailAt);
      tail.set(piece, tailAt);
      tailAt = (tailAt + piece.length) % tail.length;
      remaining = remaining.subarray(piece.length);
    }
  };
  return {
    add(bytes) {
      length += bytes.length;
      const first = bytes.subarray(0, half - headLength);
      head.set(first, headLength);
      headLength += first.length;
      addTail(bytes.subarray(first.length));
    },
    get length() {
      return length;
    },
    text() {
      const beginning = head.subarray(0, headLength);
      const after = length - headLength;
      if (after <= tail.length) {
        return Buffer.concat([beginning, tail.subarray(0, after)]).toString();
      }
      const end = Buffer.concat([tail.subarray(tailAt), tail.subarray(0, tailAt)]);
      const omitted = after - tail.length;
      return `${decodeEnd(beginning)}\n[… ${pluralize(omitted, "byte was", "bytes were")} omitted here …]\n${decodeStart(end)}`;
    },
  };
}

/** Drops an incomplete character at the end. */
function decodeEnd(bytes: Buffer): string {
  let end = bytes.length;
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) break;
    if (byte >= 0xc0) {
      const expectedLength = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      if (back < expectedLength) end -= back;
      break;
    }
  }
  return bytes.toString("utf8", 0, end);
}

/** Drops an incomplete character at the start. */
function decodeStart(bytes: Buffer): string {
  let start = 0;
  while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return bytes.toString("utf8", start);
}
