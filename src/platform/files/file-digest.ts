import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";

/** Of a file's bytes, however many; null where it cannot be read. */
export async function digestFile(path: string): Promise<string | null> {
  const hash = createHash("sha256");
  try {
    for await (const chunk of createReadStream(path)) hash.update(chunk);
    return hash.digest("hex");
  } catch {
    return null;
  }
}
