import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const FILE_NAMES = ["spanline.config.yaml", "spanline.config.yml", "spanline.config.json"] as const;

/** Returns the nearest configuration from a folder upwards. Undefined if there are none. */
export function findConfig(from: string): string | undefined {
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    const file = FILE_NAMES.map((name) => join(folder, name)).find((path) => existsSync(path));
    if (file !== undefined) return file;
    if (folder === dirname(folder)) return undefined;
  }
}
