/** Where a decoder is in its stream. */
export interface StreamPosition {
  /** Bytes of the stream before the ones at hand. */
  offset: number;
  /** The first bytes, held back while they may be part of a byte order mark; undefined once that is settled. */
  head: Uint8Array | undefined;
}

/** The `head` of a stream of which nothing has come. */
export const EMPTY_HEAD = new Uint8Array(0);

/** The content of a chunk: everything but a UTF-8 byte order mark at the very start of the stream. */
export function stripByteOrderMark(position: StreamPosition, chunk: Uint8Array): Uint8Array {
  if (position.head === undefined) return chunk;
  const bytes = position.head.length === 0 ? chunk : concatBytes(position.head, chunk);
  const matched = countMarkBytes(bytes);
  if (matched === bytes.length && matched < MARK.length) {
    position.head = bytes.slice();
    return EMPTY_HEAD;
  }
  position.head = undefined;
  if (matched < MARK.length) return bytes;
  position.offset += MARK.length;
  return bytes.subarray(MARK.length);
}

/** What was held back when the stream ended: content after all. */
export function releaseHead(position: StreamPosition): Uint8Array {
  const head = position.head ?? EMPTY_HEAD;
  position.head = undefined;
  return head;
}

function concatBytes(head: Uint8Array, chunk: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(head.length + chunk.length);
  bytes.set(head);
  bytes.set(chunk, head.length);
  return bytes;
}

function countMarkBytes(bytes: Uint8Array): number {
  let matched = 0;
  while (matched < MARK.length && bytes[matched] === MARK[matched]) matched += 1;
  return matched;
}

const MARK = [0xef, 0xbb, 0xbf] as const;
