import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";

/** SHA-256 of a file of any size. Null if the file cannot be read. */
export async function digestFile(path: string): Promise<string | null> {
  const hash = createHash("sha256");
  try {
    for await (const chunk of createReadStream(path)) hash.update(chunk);
    return hash.digest("hex");
  } catch {
    return null;
  }
}
