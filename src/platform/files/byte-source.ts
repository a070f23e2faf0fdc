import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";

export interface ByteSource {
  readonly chunks: AsyncIterable<Uint8Array>;
  /** How many bytes there are, where that is known. */
  readonly size: number | null;
}

/** Opens a file, or standard input for `-`. Rejects with Node's own error when there is nothing to read. */
export async function openByteSource(path: string): Promise<ByteSource> {
  if (path === "-") return { chunks: process.stdin, size: null };
  const facts = await stat(path);
  if (facts.isDirectory()) {
    throw Object.assign(new Error(`${path} is a folder`), { code: "EISDIR" });
  }
  const chunks = createReadStream(path, { highWaterMark: 256 * 1024 });
  return { chunks, size: facts.isFile() ? facts.size : null };
}
