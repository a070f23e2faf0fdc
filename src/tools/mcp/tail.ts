/** The last bytes of a stream, as text. */
export interface Tail {
  add(chunk: Uint8Array): void;
  text(): string;
}

export function tailOf(maxBytes: number): Tail {
  let kept = Buffer.alloc(0);
  return {
    add(chunk) {
      const joined = Buffer.concat([kept, chunk.subarray(-maxBytes)]);
      // A copy: a view would keep the whole chunk.
      kept = Buffer.from(joined.subarray(-maxBytes));
    },
    text: () => kept.toString("utf8"),
  };
}
