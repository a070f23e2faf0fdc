import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { CommandIo } from "../process/command-io.ts";

export interface ByteSource {
  readonly chunks: AsyncIterable<Uint8Array>;
  /** How many bytes there are, where that is known. */
  readonly size: number | null;
}

/** Opens a file, or `stdin` for `-`. Rejects with Node's own error when there is nothing to read. */
export async function openByteSource(
  path: string,
  { stdin, cwd }: Pick<CommandIo, "stdin" | "cwd">,
): Promise<ByteSource> {
  if (path === "-") return { chunks: stdin, size: null };
  const file = resolve(cwd, path);
  const facts = await stat(file);
  if (facts.isDirectory()) {
    throw Object.assign(new Error(`${path} is a folder`), { code: "EISDIR" });
  }
  const chunks = createReadStream(file, { highWaterMark: 256 * 1024 });
  return { chunks, size: facts.isFile() ? facts.size : null };
}
