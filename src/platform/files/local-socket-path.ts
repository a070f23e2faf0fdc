import { createHash } from "node:crypto";
import { readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";

/**
 * Where a process listens for others of the same user about a folder: in it, where a socket's path can be that long.
 * `name` tells it from the sockets of those before it, which a process that closes late takes away by their path.
 */
export function resolveLocalSocketPath(
  folder: string,
  name: string,
  platform = process.platform,
): string {
  const digest = createHash("sha256").update(resolve(folder)).digest("hex").slice(0, 20);
  if (platform === "win32") return `\\\\.\\pipe\\spanline-${digest}-${name}`;
  const inside = join(resolve(folder), `bridge-${name}.sock`);
  return Buffer.byteLength(inside) <= MAX_PATH_BYTES
    ? inside
    : join(tmpdir(), `spanline-${digest}-${name}.sock`);
}

/** The shortest limit there is (macOS), less the byte that ends it. */
const MAX_PATH_BYTES = 103;

/** Removes the sockets that dead processes left about the same folder. */
export function removeStaleSockets(address: string): void {
  const [, prefix] = /^(.*-)[^-]*\.sock$/.exec(basename(address)) ?? [];
  if (prefix === undefined) return;
  const folder = dirname(address);
  for (const name of readdirSync(folder)) {
    if (name.startsWith(prefix) && name.endsWith(".sock"))
      rmSync(join(folder, name), { force: true });
  }
}
