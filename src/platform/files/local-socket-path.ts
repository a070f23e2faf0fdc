import { createHash } from "node:crypto";
import { readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";

/**
 * The path of the local socket for a folder: inside the folder if the path is short enough, otherwise in the temporary
 * folder. `name` makes the path unique per process, because a process that closes late removes its socket by path.
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

/** The shortest limit of all systems (macOS), without the terminating byte. */
const MAX_PATH_BYTES = 103;

/** Removes the sockets left by dead processes for the same folder. */
export function removeStaleSockets(address: string): void {
  const [, prefix] = /^(.*-)[^-]*\.sock$/.exec(basename(address)) ?? [];
  if (prefix === undefined) return;
  const folder = dirname(address);
  for (const name of readdirSync(folder)) {
    if (name.startsWith(prefix) && name.endsWith(".sock"))
      rmSync(join(folder, name), { force: true });
  }
}
