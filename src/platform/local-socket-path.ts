import { createHash } from "node:crypto";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** Where a process listens for others of the same user about a folder: in it, where a socket's path can be that long. */
export function localSocketPath(folder: string, platform = process.platform): string {
  const name = createHash("sha256").update(resolve(folder)).digest("hex").slice(0, 20);
  if (platform === "win32") return `\\\\.\\pipe\\spanline-${name}`;
  const inside = join(resolve(folder), "bridge.sock");
  return Buffer.byteLength(inside) <= MAX_PATH_BYTES
    ? inside
    : join(tmpdir(), `spanline-${name}.sock`);
}

/** The shortest limit there is (macOS), less the byte that ends it. */
const MAX_PATH_BYTES = 103;
