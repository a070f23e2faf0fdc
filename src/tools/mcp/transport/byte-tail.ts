/** The last bytes of a stream, as text. */
export interface Tail {
  add(chunk: Uint8Array): void;
  text(): string;
}

export function createTail(maxBytes: number): Tail {
  let bytes = Buffer.alloc(0);
  return {
    add(chunk) {
      const joined = Buffer.concat([bytes, chunk.subarray(-maxBytes)]);
      // A copy: a view would keep the whole chunk.
      bytes = Buffer.from(joined.subarray(-maxBytes));
    },
    text: () => bytes.toString("utf8"),
  };
}
