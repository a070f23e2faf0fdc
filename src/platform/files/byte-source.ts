import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { CommandIo } from "../process/command-io.ts";

export interface ByteSource {
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Total bytes. Null for standard input and for special files. */
  readonly size: number | null;
}

/** Opens a file, or standard input for `-`. Rejects with Node's error if the path cannot be read. */
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
